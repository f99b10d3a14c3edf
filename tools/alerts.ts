import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { ROOT } from './facts';

/* What is made from the alert rules: docs/guides/alerts.md, and the Prometheus Operator's form of them. */

const RULES = 'deploy/prometheus/alerts.yml';
export const PROMETHEUS_RULE = 'deploy/kubernetes/prometheusrule.example.yaml';

/** An alert with what is said of it; only the summary has values of its series. */
export interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: { readonly severity: 'page' | 'ticket' };
  readonly annotations: Readonly<
    Record<'summary' | 'description' | 'impact' | 'action' | 'ends' | 'runbook_url', string>
  >;
}

const UNITS: Readonly<Record<string, string>> = { s: 's', m: 'min', h: 'h' };

const text = (): string => readFileSync(join(ROOT, RULES), 'utf8');

export function alertRules(): AlertRule[] {
  return (parse(text()) as { groups: { rules: AlertRule[] }[] }).groups.flatMap(({ rules }) => rules);
}

/** A section for each alert, in Markdown. */
export function alertSections(): string {
  return ['\n', ...alertRules().map(section)].join('\n');
}

function section({ alert, for: lasting, labels: { severity }, annotations }: AlertRule): string {
  const { description, impact, action, ends } = annotations;
  const after =
    lasting === undefined ? '' : `, after ${lasting.replace(/[a-z]$/, (unit) => ` ${String(UNITS[unit])}`)}`;
  return [
    `## ${alert}\n`,
    `A ${severity}${after}. ${description}\n`,
    `- **Callers see**: ${impact}`,
    `- **Do**: ${action}`,
    `- **Ends**: ${ends}\n`,
  ].join('\n');
}

/** The same rules as a resource of the Prometheus Operator. */
export function prometheusRule(): string {
  const groups = text().replace(/^(#.*\n)*/, '');
  return `# For the Prometheus Operator, beside podmonitor.example.yaml. Made from ${RULES} by \`npm run docs\`. If your Prometheus selects
# rules by a label, add it below: \`kubectl get prometheus --all-namespaces --output jsonpath='{.items[*].spec.ruleSelector}'\` shows it.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: scopegate
  namespace: scopegate
spec:
${groups.replaceAll(/^(?=.)/gm, '  ')}`;
}
