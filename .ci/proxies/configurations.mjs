import { dirname } from 'node:path';

/* Each proxy as its package configures it, as far as that changes what passes through, with compression of every type turned on. */

const TYPES = ['application/json', 'application/problem+json', 'text/plain', 'text/html', 'text/event-stream'];

const nginx = (port, gateway, folder) => `
daemon off;
pid ${folder}/nginx.pid;
error_log ${folder}/nginx.log;
worker_processes 1;
user root;
events {}
http {
  access_log off;
  gzip on;
  gzip_proxied any;
  gzip_types ${TYPES.filter((type) => type !== 'text/html').join(' ')};
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((part) => `${part}_temp_path ${folder}/${part};`).join('\n  ')}
  server {
    listen 127.0.0.1:${port};
    location / { proxy_pass http://${gateway}; }
    location /quotes/ { proxy_pass http://${gateway}/; }
  }
}
`;

const haproxy = (port, gateway) => `
defaults
  mode http
  timeout connect 5000
  timeout client 50000
  timeout server 50000
  compression algo gzip
  compression type ${TYPES.join(' ')}
listen gateway
  bind 127.0.0.1:${port}
  server gateway ${gateway}
`;

const caddy = (port, gateway) => `
{
  admin off
  auto_https off
}
http://127.0.0.1:${port} {
  encode gzip
  reverse_proxy ${gateway}
}
`;

const MODULES = 'mpm_event authz_core proxy proxy_http filter deflate';
const apache = (port, gateway, folder) => `
${MODULES.split(' ')
  .map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`)
  .join('\n')}
ServerName localhost
PidFile ${folder}/apache.pid
ErrorLog ${folder}/apache.log
DefaultRuntimeDir ${folder}
User nobody
Group nogroup
Listen 127.0.0.1:${port}
AddOutputFilterByType DEFLATE ${TYPES.join(' ')}
ProxyPass / http://${gateway}/
ProxyPassReverse / http://${gateway}/
`;

/** By name: its file, and the command that runs it in the foreground. */
export const PROXIES = {
  nginx: { file: 'nginx.conf', text: nginx, command: (file) => ['nginx', '-c', file] },
  HAProxy: { file: 'haproxy.cfg', text: haproxy, command: (file) => ['haproxy', '-db', '-f', file] },
  Caddy: {
    file: 'Caddyfile',
    text: caddy,
    // it saves its configuration there
    command: (file) => ['env', `HOME=${dirname(file)}`, 'caddy', 'run', '--config', file, '--adapter', 'caddyfile'],
  },
  Apache: { file: 'apache.conf', text: apache, command: (file) => ['apache2', '-D', 'FOREGROUND', '-f', file] },
};
