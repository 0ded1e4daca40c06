import pandas as pd

from sgais.results.rendered import html, latex, markdown

TABLE = pd.DataFrame({"log Z": ["-1.5 ± 0.2"], "P": ["0.9"]}, index=["y ~ a_b | <c>"])


def test_a_table_in_three_languages():
    assert markdown(TABLE).splitlines()[2] == r"| y ~ a_b \| <c> | -1.5 ± 0.2 | 0.9 |"
    line = r"y \textasciitilde{} a\_b | <c> & -1.5 $\pm$ 0.2 & 0.9 \\"
    assert line in latex(TABLE).splitlines()
    assert "<td>y ~ a_b | &lt;c&gt;</td>" in html(TABLE, ["One & all."])
    assert html(TABLE, ["One & all."]).endswith("<p>One &amp; all.</p>")
