"""The first steps of docs/serve.md, as somebody would copy them."""

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

DOCUMENT = Path(__file__).parents[2] / "docs" / "serve.md"


@pytest.mark.skipif(shutil.which("curl") is None, reason="the document asks with curl")
def test_the_first_steps_work(start, tmp_path):
    serving, posting, asking, *_ = re.findall(r"```bash\n(.*?)```", DOCUMENT.read_text(), flags=re.DOTALL)
    words = shlex.split(serving)
    assert words[:2] == ["sgais", "serve"]
    assert words[-2] == "--save"
    service = start(*words[2:-2])

    def copied(block):
        script = f'set -e\ncurl() {{ command curl --silent --fail "$@"; echo; }}\n{block}'
        script = script.replace("localhost:8321", f"localhost:{service.port}")
        result = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=120)
        assert result.returncode == 0, result.stderr
        return [json.loads(line) for line in result.stdout.splitlines() if line]

    (posted,) = copied(posting)
    assert posted == {"first_row": 0, "num_rows": 2000, "is_duplicate": False}
    service.wait_for_rows(2000)
    state, prediction = copied(asking)
    assert state["leader"] == "all"
    assert len(prediction["mean"]) == 1
