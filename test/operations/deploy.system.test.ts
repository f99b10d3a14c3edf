import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parser } from '@prometheus-io/lezer-promql';
import { parse, parseAllDocuments } from 'yaml';
import { describeVariables } from '../../src/config';
import { type AlertRule, alertRules, PROMETHEUS_RULE, prometheusRule } from '../../tools/alerts';
import { CHART, chartFiles } from '../../tools/chart';
import { raw } from '../api/http/raw';
import { startGateway } from '../support/gateway';

/* The files in deploy/: every expression is PromQL, and uses only metrics and labels that a gateway has. */

const ROOT = join(__dirname, '../..');
const DEPLOY = join(ROOT, 'deploy');
const read = (file: string): string => readFileSync(join(DEPLOY, file), 'utf8');

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly gridPos: Readonly<Record<'h' | 'w' | 'x' | 'y', number>>;
  readonly datasource?: unknown;
  readonly targets?: readonly { readonly refId: string; readonly expr: string; readonly legendFormat: string }[];
}

const rules = alertRules();
const dashboard = JSON.parse(read('grafana/scopegate.json')) as { panels: Panel[]; schemaVersion: number; uid: string };
const graphs = dashboard.panels.filter(({ type }) => type !== 'row');

const EXPRESSIONS = [
  ...rules.map(({ alert, expr }) => [alert, expr] as const),
  ...graphs.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [title, expr] as const)),
];

/** What Prometheus adds to every series, or has built in. */
const OF_PROMETHEUS = ['job', 'instance', 'up'];

/** The texts of all nodes of a kind in an expression; Grafana's variables, which Prometheus never sees, are replaced. */
function partsOf(expression: string, ...kinds: readonly string[]): string[] {
  const text = expression.replaceAll('$__rate_interval', '5m');
  const found: string[] = [];
  parser.parse(text).iterate({
    enter: ({ name, type, from, to }) => {
      if (type.isError) throw new Error(`not PromQL at ${String(from)}: ${text}`);
      if (kinds.includes(name)) found.push(text.slice(from, to));
    },
  });
  return found;
}

let metrics: Set<string>;
let labels: Set<string>;
beforeAll(async () => {
  const gateway = await startGateway();
  await raw(gateway.url, '/api/v1/products', {});
  const { text } = await raw(gateway.url, '/metrics', {});
  await gateway.stop();
  metrics = new Set(
    [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name, type]) =>
      type === 'histogram' ? [`${name!}_bucket`, `${name!}_sum`, `${name!}_count`] : [name!],
    ),
  );
  // series of shards exist on a sharded cluster only
  labels = new Set(['shard', ...[...text.matchAll(/[{,]([a-z_]+)="/g)].map(([, name]) => name!)]);
});

test.each(EXPRESSIONS)('%s: %s', (_title, expression) => {
  const names = partsOf(expression, 'Identifier');
  expect(names.length).toBeGreaterThan(0);
  for (const name of names) expect([...metrics, ...OF_PROMETHEUS]).toContain(name);
  for (const name of partsOf(expression, 'LabelName')) expect([...labels, ...OF_PROMETHEUS]).toContain(name);
});

/** Where an address that is not ours yet stands for the repository. */
const PAGE = 'https://git.example.com/scopegate/blob/main/docs/guides/alerts.md';

test('every alert has a unique name, a severity, a summary, and what its section of the page says', () => {
  expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
  for (const { labels: own, annotations } of rules) {
    expect(['page', 'ticket']).toContain(own.severity);
    expect(annotations.summary.length).toBeGreaterThan(10);
    // the page shows these, where there is no series to fill in
    for (const name of ['description', 'impact', 'action', 'ends'] as const)
      expect([name, annotations[name]]).toEqual([name, expect.stringMatching(/^(?!.*\{\{)[A-Z0-9`].*\.$/)]);
  }
});

test.each(rules)('the runbook_url of $alert leads to its section', ({ alert, annotations }) => {
  expect(annotations.runbook_url).toBe(`${PAGE}#${alert.toLowerCase()}`);
  expect(readFileSync(join(ROOT, 'docs/guides/alerts.md'), 'utf8')).toContain(`\n## ${alert}\n`);
});

test('the rules for the Prometheus Operator are those of alerts.yml (npm run docs)', () => {
  expect(readFileSync(join(ROOT, PROMETHEUS_RULE), 'utf8')).toBe(prometheusRule());
  const { kind, spec } = parse(prometheusRule()) as { kind: string; spec: { groups: { rules: AlertRule[] }[] } };
  expect([kind, spec.groups.flatMap((group) => group.rules)]).toEqual(['PrometheusRule', rules]);
});

test('the Helm chart is made from the manifests, all that are applied, and uses each of its values (npm run docs)', () => {
  const files = chartFiles();
  for (const [path, text] of files) expect([path, readFileSync(join(ROOT, path), 'utf8')]).toEqual([path, text]);
  const templates = readdirSync(join(ROOT, CHART, 'templates'));
  const { resources } = parse(read('kubernetes/kustomization.yaml')) as { resources: string[] };
  // a chart makes no namespace of its own
  expect([...templates, 'namespace.yaml'].sort()).toEqual(resources.sort());
  const used = new Set([...files.values()].flatMap((text) => text.match(/(?<=\.Values\.)[\w.]+/g) ?? []));
  const leaves = (value: unknown, path: string): string[] =>
    value !== null && typeof value === 'object' && !Array.isArray(value)
      ? Object.entries(value).flatMap(([name, inner]) => leaves(inner, path === '' ? name : `${path}.${name}`))
      : [path];
  expect([...used].sort()).toEqual(leaves(parse(read('helm/scopegate/values.yaml')), '').sort());
});

test('no alert names the job, but the one for a gateway that was never up', () => {
  const named = rules.filter(({ expr }) => expr.includes('job=')).map(({ alert }) => alert);
  expect(named).toEqual(['ScopegateDown', 'ScopegateAbsent']);
});

test.each(rules)('the alert $alert does not fire on a single value: it has a duration or a window', (rule) => {
  const lasting = /^([1-9]\d*[smhd])+$/;
  const windows = partsOf(rule.expr, 'MatrixSelector').map((part) => /\[(.*)\]$/.exec(part)?.[1]);
  if (rule.for !== undefined || windows.length === 0) expect(rule.for).toMatch(lasting);
  for (const window of windows) expect(window).toMatch(lasting);
});

test("the operator's guide names each of our metrics used in alerts", () => {
  const guide = readFileSync(join(ROOT, 'docs', 'guides', 'operators.md'), 'utf8');
  const ours = new Set(
    rules.flatMap(({ expr }) => partsOf(expr, 'Identifier')).filter((name) => name.startsWith('scopegate_')),
  );
  for (const name of ours) expect(guide).toContain(`\`${name.replace(/_(bucket|sum|count)$/, '')}\``);
});

test('the panels of the dashboard have unique ids and do not overlap', () => {
  expect(dashboard).toMatchObject({ schemaVersion: expect.any(Number), uid: 'scopegate' });
  expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
  const cells = new Set<string>();
  for (const { gridPos, title } of dashboard.panels) {
    expect(title).toMatch(/\S/);
    expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1) {
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
        expect(cells.has(`${String(x)} ${String(y)}`)).toBe(false);
        cells.add(`${String(x)} ${String(y)}`);
      }
    }
  }
  for (const { targets = [], description, datasource } of graphs) {
    expect(description).toMatch(/\.$/);
    expect(datasource).toEqual({ type: 'prometheus', uid: '${datasource}' });
    expect(new Set(targets.map(({ refId }) => refId)).size).toBe(targets.length);
  }
});

describe('the Kubernetes manifests', () => {
  const files = readdirSync(join(DEPLOY, 'kubernetes')).filter((file) => file.endsWith('.yaml'));
  interface Manifest {
    readonly kind: string;
    readonly metadata?: { readonly name: string };
    readonly spec?: Record<string, unknown>;
  }
  const all = files.flatMap((file) =>
    parseAllDocuments(read(`kubernetes/${file}`)).map((document) => document.toJS() as Manifest),
  );
  const one = (kind: string): Manifest => all.find((manifest) => manifest.kind === kind)!;
  interface Container {
    readonly args: string[];
    readonly env: { name: string; value: string }[];
    readonly ports: { name: string; containerPort: number }[];
    readonly volumeMounts: { mountPath: string; readOnly?: boolean }[];
    readonly [probe: string]: unknown;
  }
  type Pod = Record<string, unknown> & { readonly containers: readonly Container[] };
  const podOf = (kind: string): Pod => (one(kind).spec as { template: { spec: Pod } }).template.spec;
  const [pod, job] = [podOf('Deployment'), podOf('Job')];
  const container = pod.containers[0]!;

  test('are all applied, except the examples', () => {
    const { resources } = parse(read('kubernetes/kustomization.yaml')) as { resources: string[] };
    const examples = files.filter((file) => file.endsWith('.example.yaml'));
    expect([...resources, ...examples, 'kustomization.yaml'].sort()).toEqual(files.sort());
  });

  test('set only variables that the gateway reads, and secrets only by file', () => {
    const known = describeVariables().map(({ name }) => name);
    for (const { name } of container.env) expect(known).toContain(name);
    const secrets = known.filter((name) => known.includes(`${name}_FILE`));
    for (const { name } of container.env) expect(secrets).not.toContain(name);
    const mounted = container.volumeMounts[0]!.mountPath;
    const paths = container.env.filter(({ name }) => name.endsWith('_FILE')).map(({ value }) => value);
    const keys = Object.keys((parse(read('kubernetes/secret.example.yaml')) as { stringData: object }).stringData);
    expect(paths.sort()).toEqual(keys.map((key) => `${mounted}/${key}`).sort());
    for (const { name, value } of job.containers[0]!.env) {
      expect(known).toContain(name);
      if (name.endsWith('_FILE')) expect(paths).toContain(value);
    }
  });

  test("use the gateway's ports and paths, and allow for its shutdown time", () => {
    const admin = container.ports.find(({ name }) => name === 'admin')!.containerPort;
    expect(container.env).toContainEqual({ name: 'ADMIN_PORT', value: String(admin) });
    for (const [probe, path] of [
      ['startupProbe', '/livez'],
      ['livenessProbe', '/livez'],
      ['readinessProbe', '/readyz'],
    ] as const)
      expect(container[probe]).toMatchObject({ httpGet: { path, port: 'admin' } });
    // the gateway takes at most 24 s
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(24);
    // two who decide how many there are would fight
    expect(one('Deployment').spec).not.toHaveProperty('replicas');
    expect(container.env).toContainEqual({ name: 'INSTANCES', value: '2' });
    expect(one('HorizontalPodAutoscaler').spec).toMatchObject({
      scaleTargetRef: { name: 'scopegate' },
      minReplicas: 2,
    });
  });

  test('route callers to the port of the service, and let Prometheus name the job as alerts expect it', () => {
    const [{ http }] = one('Ingress').spec!.rules as [{ http: { paths: { backend: object }[] } }];
    expect(http.paths.map(({ backend }) => backend)).toEqual([
      { service: { name: 'scopegate', port: { name: 'http' } } },
    ]);
    const { jobLabel, selector, podMetricsEndpoints } = one('PodMonitor').spec as Record<string, object>;
    expect([jobLabel, selector]).toEqual([
      'app.kubernetes.io/name',
      { matchLabels: { 'app.kubernetes.io/name': 'scopegate' } },
    ]);
    expect(podMetricsEndpoints).toMatchObject([{ port: 'admin', path: '/metrics' }]);
  });

  test('keep the operator API inside the cluster, and gateways out of private networks but for their own ports', () => {
    const [{ host, http }] = one('Ingress').spec!.rules as [{ host: string; http: object }];
    expect(JSON.stringify(http)).not.toContain('operator');
    expect(container.env).toContainEqual({ name: 'PUBLIC_URL', value: `https://${host}` });
    const operator = all.find(({ metadata }) => metadata?.name === 'scopegate-operator')!;
    expect(operator).toMatchObject({ kind: 'Service', spec: { ports: [{ targetPort: 'admin' }] } });
    expect(operator.spec).not.toHaveProperty('type');
    interface Rule {
      readonly to?: { ipBlock: { cidr: string; except: string[] } }[];
      readonly ports: { port?: number }[];
    }
    const { egress } = one('NetworkPolicy').spec as { egress: Rule[] };
    const anywhere = egress.filter(({ to }) => to === undefined).flatMap(({ ports }) => ports.map(({ port }) => port));
    expect([...new Set(anywhere)]).toEqual([53, 27017, 6379, 4318]);
    const outside = egress.flatMap(({ to = [] }) => to.map(({ ipBlock }) => ipBlock));
    const excepted = outside.flatMap(({ except }) => except);
    for (const inside of [
      '10.0.0.0/8',
      '172.16.0.0/12',
      '192.168.0.0/16',
      '169.254.0.0/16',
      '100.64.0.0/10',
      'fc00::/7',
    ])
      expect(excepted).toContain(inside);
  });

  test('spread gateways over zones and machines', () => {
    const keys = (pod.topologySpreadConstraints as { topologyKey: string }[]).map(({ topologyKey }) => topologyKey);
    expect(keys).toEqual(['topology.kubernetes.io/zone', 'kubernetes.io/hostname']);
  });

  test('let commands write exports, and nothing else', () => {
    const [command] = job.containers as [Container];
    const folder = command.env.find(({ name }) => name === 'DATA_DIR')!.value;
    expect(command.volumeMounts.filter(({ readOnly }) => readOnly !== true)).toMatchObject([{ mountPath: folder }]);
    expect(command.args.at(-1)).toMatch(new RegExp(`^${folder}/`));
  });

  test('meet the restricted pod security standard', () => {
    for (const one of [pod, job]) {
      expect(one.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
      expect((one.containers as [Container])[0].securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      expect(one.automountServiceAccountToken).toBe(false);
    }
  });
});
