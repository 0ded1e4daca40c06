from sgais.cli.output.words import alarm_lines
from sgais.monitoring.alarms import ModelAlarm


def test_a_change_is_one_line_however_many_models_noticed_it():
    def noticed(*names):
        return alarm_lines([ModelAlarm(name, 1200 + row, 1000, "surprise", -1.0) for row, name in enumerate(names)])

    start = "the data changed at about row 1,000, noticed at row 1,200 by"
    assert noticed("a") == [f"{start} a"]
    assert noticed("a", "b", "a") == [f"{start} a and b"]
    assert noticed("a", "b", "c") == [f"{start} 3 models"]
