import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { version } from '../src/package';
import { ROOT } from './facts';

/* The Helm chart, made from the manifests of deploy/kubernetes, so that both say the same: what its values.yaml names takes the place of a text. */

export const CHART = 'deploy/helm/scopegate';
const MANIFESTS = 'deploy/kubernetes';

/** Texts of a manifest, each of which it has, and what takes the place of all their occurrences. */
type Replaced = readonly (readonly [text: string, by: string])[];

const VALUES: Readonly<Record<string, Replaced>> = {
  'autoscaling.yaml': [
    ['minReplicas: 2', 'minReplicas: {{ .Values.replicas.min }}'],
    ['maxReplicas: 8', 'maxReplicas: {{ .Values.replicas.max }}'],
  ],
  'deployment.yaml': [
    ['image: scopegate', "image: '{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}'"],
    ['https://api.example.com', 'https://{{ .Values.host }}'],
    ["TRUST_PROXY\n              value: '1'", "TRUST_PROXY\n              value: '{{ .Values.trustProxy }}'"],
    ["INSTANCES\n              value: '2'", "INSTANCES\n              value: '{{ .Values.replicas.min }}'"],
    ['secretName: scopegate', 'secretName: {{ .Values.secret }}'],
    [
      '          startupProbe:',
      '            {{- with .Values.env }}\n            {{- toYaml . | nindent 12 }}\n            {{- end }}\n          startupProbe:',
    ],
  ],
  'disruption.yaml': [],
  'ingress.yaml': [
    ['apiVersion:', '{{- if .Values.ingress.enabled }}\napiVersion:'],
    ['api.example.com', '{{ .Values.host }}'],
    ['ingressClassName: nginx', 'ingressClassName: {{ .Values.ingress.className }}'],
    ['secretName: scopegate-tls', 'secretName: {{ .Values.ingress.tlsSecret }}'],
    ['                  name: http\n', '                  name: http\n{{- end }}\n'],
  ],
  'network.yaml': [
    ['name: ingress-nginx', 'name: {{ .Values.namespaces.ingress }}'],
    ['name: monitoring', 'name: {{ .Values.namespaces.monitoring }}'],
    ['name: product', 'name: {{ .Values.namespaces.product }}'],
  ],
  'service.yaml': [],
};

/** The generated files of the chart by their paths. */
export function chartFiles(): ReadonlyMap<string, string> {
  const templates = Object.entries(VALUES).map(
    ([file, replaced]) => [join(CHART, 'templates', file), template(file, replaced)] as const,
  );
  return new Map([[join(CHART, 'Chart.yaml'), chart()], ...templates]);
}

function chart(): string {
  return [
    '# Made by `npm run docs`, as the templates are.',
    'apiVersion: v2',
    'name: scopegate',
    'description: Gateways of Scopegate, a GraphQL, REST and MCP API for the software of your customers',
    'type: application',
    `version: ${version}`,
    `appVersion: ${version}`,
    '',
  ].join('\n');
}

function template(file: string, replaced: Replaced): string {
  const text = readFileSync(join(ROOT, MANIFESTS, file), 'utf8');
  const made = replaced.reduce((before, [from, to]) => {
    if (!before.includes(from)) throw new Error(`${MANIFESTS}/${file} has no ${JSON.stringify(from)}`);
    return before.replaceAll(from, to);
  }, text);
  return `# Made from ${MANIFESTS}/${file} by \`npm run docs\`: change that.\n${made}`;
}

/** Writes them. */
export function writeChart(): void {
  mkdirSync(join(ROOT, CHART, 'templates'), { recursive: true });
  for (const [path, text] of chartFiles()) writeFileSync(join(ROOT, path), text);
}
