// All that the broker sends to the page. Written by `make reference` from slipring.status.
export * from "./contract/alarms.ts";
export * from "./contract/console.ts";
export * from "./contract/engine.ts";
export * from "./contract/message.ts";
export * from "./contract/parameters.ts";
export * from "./contract/requests.ts";
