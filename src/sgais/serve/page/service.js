// Talks to the service: questions with the token, if there is one, and the stream of events.
// EventSource cannot send a token, so events are read from an ordinary answer.

const KEY = "sgais-token";

// A link may carry the token behind its #, which browsers do not send.
export function tokenFromAddress() {
  const found = /^#token=(.+)$/.exec(location.hash);
  if (found) {
    sessionStorage.setItem(KEY, decodeURIComponent(found[1]));
    history.replaceState(null, "", location.pathname);
  }
}

export function rememberToken(token) {
  sessionStorage.setItem(KEY, token);
}

export function hasToken() {
  return sessionStorage.getItem(KEY) !== null;
}

export class Refused extends Error {
  constructor(status) {
    super(`the service answered ${status}`);
    this.status = status;
  }
}

async function ask(path, signal) {
  const token = sessionStorage.getItem(KEY);
  const headers = token === null ? {} : { Authorization: `Bearer ${token}` };
  const answer = await fetch(path, { headers, signal, cache: "no-store" });
  if (!answer.ok) throw new Refused(answer.status);
  return answer;
}

// Asked first because it never needs a token, and so never leaves an error in the console.
export async function needsToken() {
  return (await (await fetch("health", { cache: "no-store" })).json()).needs_token;
}

export async function state() {
  return (await ask("state")).json();
}

export async function records(from, points) {
  return (await ask(`records?from=${Math.max(0, Math.floor(from))}&points=${points}`)).json();
}

// Calls back for each event behind a row, until the connection ends.
export async function listen(fromRow, onNews) {
  const stop = new AbortController();
  const answer = await ask(`events?from=${fromRow}`, stop.signal);
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let waiting = "";
  let timer = 0;
  const silence = 30_000; // the service says something every ten seconds
  try {
    for (;;) {
      clearTimeout(timer);
      timer = setTimeout(() => stop.abort(), silence);
      const { value, done } = await reader.read();
      if (done) return;
      const parts = (waiting + value).split("\n\n");
      waiting = parts.pop();
      for (const part of parts) {
        const data = part.split("\n").find((line) => line.startsWith("data: "));
        if (data) onNews(JSON.parse(data.slice(6)));
      }
    }
  } finally {
    clearTimeout(timer);
  }
}
