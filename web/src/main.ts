// Starts the console: live messages change the state, and animation frames draw it. Nothing is drawn per message.
import "./style/theme.css";
import "./style/bar.css";
import "./style/layout.css";
import "./style/values.css";
import "./style/parameters.css";
import "./style/tables.css";
import "./style/journal.css";
import "./style/requests.css";
import "./style/charts.css";
import "./style/login.css";
import "./style/narrow.css";
import { fetchVisitor } from "./console-request.ts";
import { LiveConnection } from "./live-connection.ts";
import { ConsoleState } from "./model/console-state.ts";
import { type ConsoleVisitor, LiveMessage, ParametersMessage } from "./model/contract.ts";
import { HISTORY_MS } from "./model/value-history.ts";
import { freshness } from "./model/connection-state.ts";
import { ParameterStore } from "./model/parameter-store.ts";
import { parse } from "./model/shape.ts";
import { admission, endReason, hasEnded, may } from "./model/visitor-wording.ts";
import { AuditPanel } from "./views/audit-panel.ts";
import { AwayTable } from "./views/away-table.ts";
import { ClientsTable } from "./views/clients-table.ts";
import { EventsList } from "./views/events-list.ts";
import { PageHeader } from "./views/header.ts";
import { JournalPanel } from "./views/journal-panel.ts";
import { LoginForm } from "./views/login-form.ts";
import { LimitsTable } from "./views/limits-table.ts";
import { MemoryPanel } from "./views/memory-panel.ts";
import { ParametersPanel } from "./views/parameters-panel.ts";
import { PinnedCharts } from "./views/pins.ts";
import { PrefixesTable } from "./views/prefixes-table.ts";
import { RequestsPanel } from "./views/requests-panel.ts";
import { StreamsPanel } from "./views/streams-panel.ts";
import { renderTiles } from "./views/tiles.ts";
import { TrafficChart } from "./views/traffic-chart.ts";
import { ValuesTable } from "./views/values-table.ts";

/** Ages and charts are drawn at least this often, also without messages. */
const TICK_MS = 300;
/** The messages of one poll arrive together and are drawn together. */
const GATHER_MS = 60;
/** A page that is hidden for longer closes its connections; before that, charts have no gap. */
const HIDDEN_MS_MAX = 10_000;
/** A broker that does not answer at all is asked again after this time. */
const BEGIN_AGAIN_MS = 1_000;
/** Where the broker sends a browser whose login at the identity provider failed. */
const PROVIDER_FAILED = "#login-failed";

const state = new ConsoleState();
let frame = 0;
/** Who looks at the page; null until the broker has said it. */
let visitor: ConsoleVisitor | null = null;

const liveConnection = new LiveConnection({
  path: () => "api/live",
  parse: (text) => parse(LiveMessage, text),
  receive: (message, first) => {
    state.receive(message, first, performance.now());
    renderSoon();
  },
  closed: onClosed,
});

const parameterStore = new ParameterStore();
const parametersConnection = new LiveConnection({
  path: () => `api/parameters?search=${encodeURIComponent(parameters.search)}`,
  parse: (text) => parse(ParametersMessage, text),
  receive: (message, first) => {
    parameterStore.receive(message);
    if (first) parameters.sendAgain();
    renderSoon();
  },
  closed: onClosed,
});

const header = new PageHeader();
const traffic = new TrafficChart();
const pins = new PinnedCharts();
const streams = new StreamsPanel();
const requests = new RequestsPanel();
const clients = new ClientsTable();
const away = new AwayTable();
const journal = new JournalPanel();
const prefixes = new PrefixesTable();
const memory = new MemoryPanel((area) => may(visitor, area));
const login = new LoginForm();
const limits = new LimitsTable();
const audit = new AuditPanel();
const events = new EventsList();
const parameters = new ParametersPanel({
  request: (request) => {
    parameterStore.watch(request.first, request.count);
    parametersConnection.send(JSON.stringify(request));
  },
  moved: () => requestRender(),
});
const values = new ValuesTable({
  isPinned: (topic) => pins.has(topic),
  toggle: (record) => pins.toggle(record),
  moved: () => requestRender(),
});

function requestRender(): void {
  if (frame === 0) frame = requestAnimationFrame(render);
}

let tickTimer = 0;
let gatherTimer = 0;
let hiddenTimer = 0;

function renderSoon(): void {
  if (gatherTimer === 0) gatherTimer = window.setTimeout(requestRender, GATHER_MS);
}

function render(local_ms: number): void {
  frame = 0;
  window.clearTimeout(tickTimer);
  window.clearTimeout(gatherTimer);
  gatherTimer = 0;
  tickTimer = window.setTimeout(requestRender, TICK_MS);
  renderBroker(local_ms);
  renderPanels(state.clock.now(local_ms) ?? 0);
  const problem = liveConnection.problem ?? parametersConnection.problem;
  header.renderFreshness(freshness(liveConnection.state, state.clock.heard_at_ms, local_ms), problem);
}

function renderBroker(local_ms: number): void {
  const latest = state.latest;
  if (latest === null) return;
  const since_heard_ms = local_ms - (state.clock.heard_at_ms ?? local_ms);
  header.renderBroker(latest.broker, Math.max(0, since_heard_ms) / 1_000);
  renderTiles(latest);
}

function renderPanels(now_ms: number): void {
  const window = { from_ms: now_ms - HISTORY_MS, to_ms: now_ms };
  if (state.latest) traffic.render(state.traffic, state.latest.rates, window);
  pins.render(state.values, window);
  parameters.render(parameterStore, state.latest, now_ms);
  values.render(state, now_ms);
  streams.render(state.latest, now_ms);
  requests.render(state.latest);
  clients.render(state.latest);
  away.render(state.latest, now_ms);
  journal.render(state.latest, now_ms);
  prefixes.render(state.latest);
  memory.render(state.latest);
  limits.render(state.latest, now_ms);
  events.render(state.events);
}

window.addEventListener("online", () => {
  liveConnection.retryNow();
  parametersConnection.retryNow();
});
document.addEventListener("visibilitychange", () => {
  window.clearTimeout(hiddenTimer);
  if (document.visibilityState === "visible") {
    liveConnection.resume();
    parametersConnection.resume();
  } else {
    hiddenTimer = window.setTimeout(pause, HIDDEN_MS_MAX);
  }
});

/** Nobody looks at the page, so the broker need not send. */
function pause(): void {
  liveConnection.pause();
  parametersConnection.pause();
}

/** Whether the broker has ended the login. Else the page connects again, unless a look shows that it has to log in. */
function onClosed(code: number, reason: string): boolean {
  const why = endReason(code, reason);
  void lookAgain(why);
  return why !== null;
}

/** A page that may still watch starts anew: what it shows may be more than it may see now. */
async function lookAgain(reason: string | null): Promise<void> {
  const now = await fetchVisitor();
  if (now === null || visitor === null || (reason === null && !hasEnded(visitor, now))) return;
  const next = admission(now, reason ?? "Your login has ended. Log in again.");
  if (next.kind === "shown") window.location.reload();
  else showForm(next.sentence, now);
}

function showForm(sentence: string, now: ConsoleVisitor): void {
  pause();
  login.renderVisitor(now);
  login.show(sentence, now);
}

/** Whether the browser comes back from an identity provider without a login. */
function providerTrouble(): string | null {
  if (window.location.hash !== PROVIDER_FAILED) return null;
  history.replaceState(null, "", window.location.pathname);
  return "The login with your identity provider did not succeed. The broker's audit says why.";
}

/** Asks who looks at the page until the broker answers; then shows it, or the form. */
async function begin(): Promise<void> {
  visitor = await fetchVisitor();
  if (visitor === null) {
    window.setTimeout(() => void begin(), BEGIN_AGAIN_MS);
    return;
  }
  login.renderVisitor(visitor);
  const next = admission(visitor, providerTrouble());
  if (next.kind === "form") {
    login.show(next.sentence, visitor);
    return;
  }
  audit.offer(may(visitor, "access"));
  liveConnection.open();
  parametersConnection.open();
}

requestRender();
void begin();
