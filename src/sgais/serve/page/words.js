// Numbers and alarms as people read them.

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

export const MISSING = "–";
export const BEWARE = " (beware)"; // after a number that a warning speaks against
const MOST_NAMES = 2; // of models in a sentence

export function count(value) {
  return value == null ? MISSING : whole.format(value);
}

export function fixed(value, digits) {
  if (value == null || !Number.isFinite(value)) return MISSING;
  const text = new Intl.NumberFormat("en", { minimumFractionDigits: digits, maximumFractionDigits: digits }).format(value);
  return text.replace("-", "−");
}

// As many digits as the error has meaning for.
export function withError(value, error, most = 6) {
  if (value == null) return MISSING;
  if (error == null || !(error > 0)) return fixed(value, Math.min(most, 4));
  const digits = Math.min(Math.max(1 - Math.floor(Math.log10(error)), 2), most);
  return `${fixed(value, digits)} ± ${fixed(error, digits)}`;
}

// 1 and 0 only where it is so.
export function share(probability) {
  if (probability == null) return MISSING;
  if (probability > 0 && probability < 0.001) return "<0.001";
  if (probability > 0.999 && probability < 1 - 1e-12) return ">0.999";
  return fixed(probability, 3);
}

export function bytes(value) {
  return value == null ? MISSING : `${count(value / 1e6)} MB`;
}

// Each change of the data once: where it was, the row at which it was first noticed, and by which models.
export function changes(alarms) {
  const noticed = new Map();
  for (const alarm of alarms) {
    if (!noticed.has(alarm.location)) noticed.set(alarm.location, []);
    noticed.get(alarm.location).push(alarm);
  }
  return [...noticed].map(([location, some]) => ({
    location,
    row: Math.min(...some.map((alarm) => alarm.row)),
    models: [...new Set(some.map((alarm) => alarm.model))],
  }));
}

// One line for each change, with the models that noticed it, or how many if they are many.
export function alarmLines(alarms) {
  return changes(alarms).map(({ location, row, models }) => {
    const by = models.length <= MOST_NAMES ? models.join(" and ") : `${models.length} models`;
    return `The data changed at about row ${count(location)}, noticed at row ${count(row)} by ${by}.`;
  });
}
