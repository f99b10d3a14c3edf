import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT, run } from '../examples/run';
import { amounts } from './amounts';
import { answering, json } from './answers';
import type { Language } from './calling';
import { calls } from './calls';
import { live } from './live';
import { installPython } from './packages';
import { streams } from './streams';
import { webhooks } from './webhooks';

/* clients/python, built and installed. */

let folder: string;
let python: string;
const DRIVER = 'driver.py';
const language: Language = { name: 'python', command: () => python, driver: () => join(folder, DRIVER) };

beforeAll(async () => {
  await mkdir(join(ROOT, '.cache'), { recursive: true });
  folder = await mkdtemp(join(ROOT, '.cache', 'client-'));
  python = await installPython(folder, 'mypy==1.18.2');
  await cp(join(__dirname, DRIVER), join(folder, DRIVER));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

calls(language);
streams(language);
webhooks(language);
amounts(language);
live(language, { language: 'python', page: 'clients/python/README.md', ending: '.py', args: [] });

test('the wheel has exactly the files it needs', async () => {
  const [library = ''] = await readdir(join(folder, '.venv', 'lib'));
  const installed = join(folder, '.venv', 'lib', library, 'site-packages');
  const files = await readdir(join(installed, 'scopegate'));
  const names = [
    '__init__.py',
    'client.py',
    'error.py',
    'money.py',
    'py.typed',
    'refusals.py',
    'routes.pyi',
    'types.py',
    'webhook.py',
  ];
  expect(files.filter((file) => file !== '__pycache__').sort()).toEqual(names);
  const [info = ''] = (await readdir(installed)).filter((name) => /^scopegate-.*\.dist-info$/.test(name));
  expect(await readdir(join(installed, info, 'licenses'))).toEqual(['LICENSE']);
});

describe('credentials', () => {
  const scene = answering(language);

  test('in .netrc for the host are not sent in place of the key', async () => {
    scene.answers = [json({})];
    const NETRC = join(folder, 'netrc');
    await writeFile(NETRC, 'machine 127.0.0.1 login ann password secret');
    const program = 'import scopegate, sys; scopegate.Scopegate("key", sys.argv[1]).get("/me")';
    await run(python, ['-c', program, scene.url()], { env: { NETRC } });
    expect(scene.arrived()[0]!.headers.authorization).toBe('Bearer key');
  });
});

/** Each line type-checks, or has the error that its comment ignores: mypy rejects unused comments. */
const PROGRAM = `
from __future__ import annotations
from collections.abc import Iterator
from typing import Any
from scopegate import Scopegate
from scopegate.types import Customer, Me, Order, OrderItem, ProductsBulkBody, StreamEvent

api = Scopegate("k", "u")
me: Me = api.get("/me")
order: Order = api.get("/orders/{id}", id=me["key"]["prefix"], include=["customer"])
minor: int = order["total_minor"]
found: tuple[Customer, str | None] = api.read("/customers/{id}", id="x")
api.patch("/customers/{id}", {"name": "Ann", "email": None}, id="x", if_match=found[1])
body: ProductsBulkBody = {"products": [{"sku": "A"}]}
failed: int = api.post("/products/bulk", body, idempotency_key="x")["failed"]
rows: Iterator[OrderItem] = api.list("/orders", status=["completed"], sort="-placed_at")
events: Iterator[StreamEvent] = api.events(after="x", types=["order.created"])
cursor: str = next(events)["cursor"]
for message in api.list("/requests/{id}/messages", id="x"):
    message["body"].strip()
own: Any = Scopegate("k", "u")
for project in own.list("/projects", status=["open"]):
    print(project["name"])
api.get("/nothing")  # type: ignore[call-overload]
api.get("/orders/{id}")  # type: ignore[call-overload]
api.list("/orders", status=["done"])  # type: ignore[call-overload]
api.list("/orders", colour="red")  # type: ignore[call-overload]
api.list("/events")  # type: ignore[call-overload]
order["colour"]  # type: ignore[typeddict-item]
api.patch("/products/{id}", {"unit_price_minor": "7"}, id="x")  # type: ignore[call-overload]
`;

test('routes, filters, bodies and results have the types of the OpenAPI document, and the client itself type-checks', async () => {
  await writeFile(join(folder, 'program.py'), PROGRAM);
  const strict = ['-m', 'mypy', '--strict', '--python-version', '3.10', '--cache-dir', join(folder, 'mypy')];
  await cp(join(ROOT, 'examples', 'python', 'tour.py'), join(folder, 'tour.py'));
  await run(python, [...strict, 'program.py', 'tour.py'], { cwd: folder });
  await run(python, [...strict, '--ignore-missing-imports', '-p', 'scopegate'], { cwd: folder });
});
