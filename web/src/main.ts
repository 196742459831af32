// Starts the console: live messages change the state, and animation frames draw it. Nothing is drawn per message.
import "./style/theme.css";
import "./style/bar.css";
import "./style/layout.css";
import "./style/values.css";
import "./style/parameters.css";
import "./style/drawer.css";
import "./style/tables.css";
import "./style/journal.css";
import "./style/requests.css";
import "./style/charts.css";
import "./style/login.css";
import "./style/narrow.css";
import "./style/shell.css";
import "./style/time-bar.css";
import "./style/plots.css";
import "./style/instruments.css";
import "./style/layouts.css";
import "./style/health.css";
import "./style/alarms.css";
import { fetchText, fetchVisitor } from "./console-request.ts";
import "./style/flow.css";
import { LiveConnection } from "./live-connection.ts";
import { AlarmStore } from "./model/alarm-store.ts";
import { ConsoleState } from "./model/console-state.ts";
import { type ConsoleVisitor, LiveMessage, ParametersMessage } from "./model/contract.ts";
import { freshness } from "./model/connection-state.ts";
import { ParameterStore } from "./model/parameter-store.ts";
import { type LivePart, livePath, partsOf, partsRequest } from "./model/live-parts.ts";
import { parse } from "./model/shape.ts";
import { TimeControl } from "./model/time-control.ts";
import { admission, endReason, hasEnded, may } from "./model/visitor-wording.ts";
import { brokerPage, eventsPage, requestsPage, storagePage, topicsPage } from "./pages/broker-pages.ts";
import { ClientsPage } from "./pages/clients-page.ts";
import { FlowPage } from "./pages/flow-page.ts";
import { LayoutsPage } from "./pages/layouts-page.ts";
import { AlarmsPage } from "./pages/alarms-page.ts";
import { LinksPage } from "./pages/links-page.ts";
import { overview } from "./pages/overview-page.ts";
import type { Page, PageContext } from "./pages/page.ts";
import { PipelinePage } from "./pages/pipeline-page.ts";
import { PlotsPage } from "./pages/plots-page.ts";
import { fetchRange } from "./series-feed.ts";
import { AddressTime } from "./shell/address-time.ts";
import { ClockChip } from "./shell/clock-chip.ts";
import { Navigation } from "./shell/navigation.ts";
import { Router } from "./shell/router.ts";
import { TimeBar } from "./shell/time-bar.ts";
import { listenToKeys } from "./shell/time-keys.ts";
import { ShortcutKeys } from "./shell/shortcut-keys.ts";
import { Theme } from "./shell/theme.ts";
import { PageHeader } from "./views/header.ts";
import { HealthLine } from "./views/health-line.ts";
import { AlarmActs } from "./views/alarm-acts.ts";
import { AlarmStrip } from "./views/alarm-strip.ts";
import { LoginForm } from "./views/login-form.ts";
import { part } from "./views/page.ts";
import { consoleWidgets } from "./widgets/console-widgets.ts";

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
/** What the broker was asked for last. */
let liveParts: readonly LivePart[] = [];
/** Who looks at the page; null until the broker has said it. */
let visitor: ConsoleVisitor | null = null;

const liveConnection = new LiveConnection({
  path: () => livePath(liveParts),
  parse: (text) => parse(LiveMessage, text),
  receive: (message, first) => {
    if (first) liveConnection.send(partsRequest(liveParts));
    state.receive(message, first, performance.now());
    renderSoon();
  },
  closed: onClosed,
});

const parameterStore = new ParameterStore();
const parametersConnection = new LiveConnection({
  path: () => `api/parameters?${parameters.panel.query}`,
  parse: (text) => parse(ParametersMessage, text),
  receive: (message, first) => {
    parameterStore.receive(message);
    if (first) parameters.panel.sendAgain();
    renderSoon();
  },
  closed: onClosed,
});

const alarms = new AlarmStore(fetchText, renderSoon);
const time = new TimeControl();
const addressTime = new AddressTime(time);
/** The broker's clock, once it is known and the address has said which time it wants. */
const now = () => (addressTime.isPending ? null : state.clock.now(performance.now()));
const timeBar = new TimeBar(time, { fetchRange, moved: requestRender });
const widgets = consoleWidgets({ state, time, now, closed: onClosed });
/** Pages whose widgets follow the time. */
const TIMED_PAGES = ["", "plots", "layouts"];
const header = new PageHeader();
const clock = new ClockChip(time, requestRender);
const login = new LoginForm();
const alarmStrip = new AlarmStrip(part("alarm-strip"), alarms, new AlarmActs(alarms, () => may(visitor, "alarms")));
const parameters = overview(parameterStore, () => parametersConnection, () => visitor, requestRender, alarmStrip);

/** In the order of the navigation; the first is shown where the address names none. */
const pages: readonly Page[] = [
  parameters.page,
  new PlotsPage(),
  new LayoutsPage(),
  new AlarmsPage(alarms, () => visitor),
  brokerPage(() => visitor),
  new ClientsPage(() => visitor),
  new FlowPage(),
  topicsPage(requestRender),
  storagePage(),
  requestsPage(),
  new PipelinePage(),
  new LinksPage(),
  eventsPage(() => visitor),
];
const context: PageContext = { state, time, widgets: widgets.context, visitor: () => visitor, requestRender };
const navigation = new Navigation(pages);
new ShortcutKeys(pages);
const router = new Router(pages, part("main"), context, (page) => {
  navigation.mark(page);
  timeBar.show(TIMED_PAGES.includes(page.path));
  addressTime.follow();
});
const health = new HealthLine();
new Theme(requestRender);
listenToKeys({ time, cursors: widgets.context.cursors, now: () => (timeBar.isShown ? now() : null), moved: requestRender });

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
  const live_ms = state.clock.now(local_ms);
  addressTime.render(live_ms, timeBar.isShown);
  clock.render(time, live_ms, timeBar.isShown);
  timeBar.render(live_ms);
  health.render(state.latest);
  router.render(live_ms ?? 0);
  askForParts();
  const problem = liveConnection.problem ?? parametersConnection.problem;
  header.renderFreshness(freshness(liveConnection.state, state.clock.heard_at_ms, local_ms), problem, time.mode === "live");
}

/** The pages that need lists also while others are shown say so themselves. */
function askForParts(): void {
  const wanted = partsOf(router.shown?.parts?.() ?? [], ...pages.map((page) => page.partsBeyond?.() ?? []));
  if (wanted.join() === liveParts.join()) return;
  liveParts = wanted;
  liveConnection.send(partsRequest(wanted));
}

function renderBroker(local_ms: number): void {
  const latest = state.latest;
  if (latest === null) return;
  const since_heard_ms = local_ms - (state.clock.heard_at_ms ?? local_ms);
  header.renderBroker(latest.broker, Math.max(0, since_heard_ms) / 1_000);
  navigation.badge("alarms", latest.alarms.unacknowledged > 0 ? String(latest.alarms.unacknowledged) : "");
}

window.addEventListener("online", () => {
  liveConnection.retryNow();
  parametersConnection.retryNow();
  widgets.feed.retryNow();
});
document.addEventListener("visibilitychange", () => {
  window.clearTimeout(hiddenTimer);
  if (document.visibilityState === "visible") {
    liveConnection.resume();
    parametersConnection.resume();
    widgets.feed.resume();
  } else {
    hiddenTimer = window.setTimeout(pause, HIDDEN_MS_MAX);
  }
});

/** Nobody looks at the page, so the broker need not send. */
function pause(): void {
  liveConnection.pause();
  parametersConnection.pause();
  widgets.feed.pause();
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
  liveConnection.open();
  parametersConnection.open();
}

part("skip").addEventListener("click", (event) => {
  event.preventDefault();
  part("main").focus();
});
router.follow();
requestRender();
void begin();
