const pattern = /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(Z|[+-]\d\d:\d\d))?$/;
const dayMs = 86_400_000;

/**
 * Epoch milliseconds of an ISO 8601 instant, or nothing if it is none: `2027-03-01T09:30:00Z`, with an offset instead of `Z`, with
 * fewer or more digits after the minutes; a date alone is its beginning in UTC. A time without a zone is refused, as it would mean
 * something else on every machine. Written out, as the core has no clock of its own to ask.
 */
export function instantOf(text: string): number | undefined {
  const match = pattern.exec(text);
  if (!match) return undefined;
  const [, year = "", month = "", day = "", hour = "0", minute = "0", second = "0", fraction = "", zone = "Z"] = match;
  const [m, d] = [Number(month), Number(day)];
  if (m < 1 || m > 12 || d < 1 || d > daysIn(Number(year), m)) return undefined;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  const timeMs =
    ((Number(hour) * 60 + Number(minute)) * 60 + Number(second)) * 1000 + Number(fraction.padEnd(3, "0").slice(0, 3));
  return daysFromEpoch(Number(year), m, d) * dayMs + timeMs - offsetMs(zone);
}

function offsetMs(zone: string): number {
  if (zone === "Z") return 0;
  const ms = (Number(zone.slice(1, 3)) * 60 + Number(zone.slice(4))) * 60_000;
  return zone.startsWith("-") ? -ms : ms;
}

const isLeap = (year: number) => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;

const daysIn = (year: number, month: number) =>
  month === 2 ? (isLeap(year) ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31;

/** Days since 1970-01-01 in the Gregorian calendar. Years begin in March here, so that the leap day comes last. */
function daysFromEpoch(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year;
  const era = Math.floor(y / 400);
  const yearOfEra = y - era * 400;
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}
