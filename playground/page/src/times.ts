// Times in UTC, as Karpenter reads schedules, and in the visitor's time zone.

const options: Intl.DateTimeFormatOptions = {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
};
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
const utc = new Intl.DateTimeFormat('en-GB', { ...options, timeZone: 'UTC' });
const local = new Intl.DateTimeFormat('en-GB', options);

/** `Mon 23 Nov 08:00`, or without the date if `day` is that date. */
function moment(format: Intl.DateTimeFormat, time: number, day = ''): { day: string; text: string } {
  const parts = Object.fromEntries(format.formatToParts(time).map(({ type, value }) => [type, value]));
  const own = `${parts.weekday} ${parts.day} ${parts.month}`;
  const clock = `${parts.hour}:${parts.minute}`;
  return { day: own, text: own === day ? clock : `${own} ${clock}` };
}

function span(format: Intl.DateTimeFormat, start: number, end: number): string {
  const first = moment(format, start);
  return `${first.text} to ${moment(format, end, first.day).text}`;
}

/** `Mon 23 Nov 08:00`, in UTC. */
export const utcTime = (time: number): string => moment(utc, time).text;

/** `Mon 23 Nov 08:00 to 18:00`, in UTC. */
export const utcPeriod = (start: number, end: number): string => span(utc, start, end);

/** A period in the visitor's time zone with its name; empty if the zone is UTC then. */
export function localPeriod(start: number, end: number): string {
  const text = span(local, start, end);
  return text === utcPeriod(start, end) ? '' : `${text} in ${zone}`;
}

/** `Mon 23`, in UTC. */
export function utcDay(time: number): string {
  return moment(utc, time).day.split(' ').slice(0, 2).join(' ');
}
