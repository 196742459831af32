// What the filter box accepts: an MQTT filter where it is a valid one with wildcards, else a part of the topic's name.

export type TopicTest = (topic: string) => boolean;

export function topicTest(input: string): TopicTest {
  const wanted = input.trim();
  if (wanted === "") return () => true;
  if (hasWildcardLevels(wanted)) return (topic) => matches(wanted.split("/"), topic);
  const part = wanted.toLowerCase();
  return (topic) => topic.toLowerCase().includes(part);
}

/** A wildcard fills its whole level and `#` is the last one [MQTT-4.7.1-1, MQTT-4.7.1-2]. */
function hasWildcardLevels(filter: string): boolean {
  const levels = filter.split("/");
  const wildcards = levels.filter((level) => level.includes("+") || level.includes("#"));
  const whole = wildcards.every((level) => level === "+" || level === "#");
  const hash = levels.indexOf("#");
  return wildcards.length > 0 && whole && (hash < 0 || hash === levels.length - 1);
}

function matches(filter: string[], topic: string): boolean {
  const levels = topic.split("/");
  const first = filter[0];
  if (topic.startsWith("$") && (first === "+" || first === "#")) return false; // [MQTT-4.7.2-1]
  for (const [index, level] of filter.entries()) {
    if (level === "#") return true;
    if (index >= levels.length) return false;
    if (level !== "+" && level !== levels[index]) return false;
  }
  return levels.length === filter.length;
}
