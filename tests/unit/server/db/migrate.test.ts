import { randomUUID } from 'node:crypto'
import { copyFile, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterEach, beforeEach, expect, inject, onTestFinished, test } from 'vitest'
import type { DatabaseLocation } from '../../../../src/server/db/connection-config.ts'
import { migrate } from '../../../../src/server/db/migrate.ts'
import { socketConnectionConfig, startPostgres } from '../../../../src/server/db/postgres.ts'
import { findDatabaseFaults } from '../../../../src/server/db/security-checks.ts'
import { makeDb } from '../../../helpers/database.ts'

const { socketDir } = inject('database')
const company = '00000000-0000-4000-8000-000000000000'
let directory: string
let database: string

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'vmig-'))
  database = `migrate_${randomUUID().replaceAll('-', '')}`
})

afterEach(async () => {
  await asOwner('postgres', `drop database if exists ${database} with (force)`)
  await rm(directory, { recursive: true })
})

test('applies each file once and in order, with its row', async () => {
  await file('0002-add-b.sql', 'alter table t add b int;')
  await file('0001-init.sql', 'create table t (a int); insert into t values (1);')
  expect(await migrateHere()).toEqual(['0001-init.sql', '0002-add-b.sql'])
  expect(await migrateHere()).toEqual([])
  await file('0003-add-c.sql', 'alter table t add c int default 3;')
  expect(await migrateHere()).toEqual(['0003-add-c.sql'])
  expect(await asOwner(database, 'select * from t')).toEqual([{ a: 1, b: null, c: 3 }])
  const rows = await asOwner(database, 'select * from schema_migration order by name')
  expect(rows).toHaveLength(3)
  expect(rows[0]).toMatchObject({ sha256: expect.stringMatching(/^[0-9a-f]{64}$/) })
})

test('leaves nothing of a file that fails', async () => {
  await file('0001-init.sql', 'create table t (a int);')
  await file('0002-break.sql', 'create table u (a int); select 1 / 0;')
  await expect(migrateHere()).rejects.toThrow('Migration 0002-break.sql failed: division by zero.')
  expect(await asOwner(database, "select to_regclass('t') as t, to_regclass('u') as u")).toEqual([
    { t: 't', u: null }
  ])
  await file('0002-break.sql', 'create table u (a int);')
  expect(await migrateHere()).toEqual(['0002-break.sql'])
})

test.each(['40001', '40P01'])('tries again what loses to calls of the service (%s)', async code => {
  const fail = (least: number) =>
    `create table t (a int);
     do $$ begin
       if nextval('attempts') < ${least} then raise 'lost' using errcode = '${code}'; end if;
     end $$;`
  await file('0001-init.sql', 'create sequence attempts;')
  await file('0002-fill.sql', fail(5))
  expect(await migrateHere()).toEqual(['0001-init.sql', '0002-fill.sql'])
  await file('0003-fill.sql', fail(1000).replace('table t', 'table u'))
  await expect(migrateHere()).rejects.toThrow('Migration 0003-fill.sql failed: lost.')
  expect(await asOwner(database, 'select last_value::int as n from attempts')).toEqual([{ n: 10 }])
})

test('refuses an applied file that was edited, but not one with other line ends', async () => {
  await file('0001-init.sql', 'create table t (\n  a int\n);')
  await migrateHere()
  await file('0001-init.sql', 'create table t (\r\n  a int\r\n);')
  expect(await migrateHere()).toEqual([])
  await file('0001-init.sql', 'create table t (\n  a bigint\n);')
  await expect(migrateHere()).rejects.toThrow('0001-init.sql was edited after it had been applied')
})

test('refuses a database that is ahead of the code', async () => {
  await file('0001-init.sql', 'create table t (a int);')
  await file('0002-add-b.sql', 'alter table t add b int;')
  await migrateHere()
  await rm(join(directory, '0002-add-b.sql'))
  await expect(migrateHere()).rejects.toThrow('has migration 0002-add-b.sql, which this version')
})

test('refuses a new file numbered below an applied one', async () => {
  await file('0002-init.sql', 'create table t (a int);')
  await migrateHere()
  await file('0001-late.sql', 'create table u (a int);')
  await expect(migrateHere()).rejects.toThrow('0001-late.sql is numbered below 0002-init.sql')
})

test.each([
  ['init.sql', 'is not named like'],
  ['0001-again.sql', 'share a number']
])('refuses a folder with %s in it', async (name, reason) => {
  await file('0001-init.sql', '')
  await file(name, '')
  await expect(migrateHere()).rejects.toThrow(reason)
})

test('lets six race on a new server: one applies, five wait, none fails', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'vmig-'))
  const settings = { fsync: 'off' }
  const server = await startPostgres({ dir: join(folder, 'pg'), settings })
  try {
    await file('0001-init.sql', 'create table t (a int); select pg_sleep(0.2);')
    await file('0002-fill.sql', 'insert into t values (1);')
    const place = { socketDir: server.socketDir, database, directory }
    const answers = await Promise.all([1, 2, 3, 4, 5, 6].map(() => migrate(place)))
    expect(answers.flat()).toEqual(['0001-init.sql', '0002-fill.sql'])
  } finally {
    await server.stop({ evenIfShared: true })
    await rm(folder, { recursive: true })
  }
})

test('makes names of categories fit for the record', async () => {
  const migrateRest = await migrateUpTo('0007-add-held-uploads.sql')
  const given = [
    { en: 'Contracts', fr: 'Contrats' },
    { fr: 'Cafe\u0301s' },
    { en: 'a\u0007b', fr: '' },
    { en: 'é'.repeat(300), fr: 7 },
    []
  ]
  const rows = given.map(
    (each, n) =>
      `('${company}', '${company.slice(0, -1)}${n}', '${JSON.stringify(each)}', 'public', now())`
  )
  await asOwner(
    database,
    `insert into company (id, name, created_at) values ('${company}', 'Acme', now());
     insert into category (company_id, id, names, visibility, created_at) values ${rows.join()}`
  )
  await migrateRest()
  expect(await asOwner(database, 'select names from category order by id')).toEqual([
    { names: { en: 'Contracts', fr: 'Contrats' } },
    { names: { en: 'Caf\u00e9s', fr: 'Caf\u00e9s' } },
    { names: { en: 'a b', fr: 'a b' } },
    { names: { en: 'é'.repeat(63), fr: '7' } },
    { names: { en: 'Documents', fr: 'Documents' } }
  ])
})

test('counts what people have deposited before that was counted', async () => {
  const migrateRest = await migrateUpTo('0015-add-user-usage.sql')
  const id = (n: number) => `${company.slice(0, -1)}${n}`
  const [ada, bob, group, category] = [id(1), id(2), id(3), id(4)]
  const first = '2026-03-01T00:00:00.000Z'
  const second = '2026-03-31T00:00:00.000Z'
  // person, period, size and whether the deposit was made
  const uploads: [string, string, number, boolean][] = [
    [ada, first, 100, true],
    [ada, first, 20, true],
    [ada, second, 3, true],
    [ada, second, 999, false],
    [bob, second, 4000, true]
  ]
  await asOwner(
    database,
    `insert into company (id, name, created_at) values ('${company}', 'Acme', now());
     insert into "user" (company_id, id, email, username, tokens_valid_after, created_at)
       select '${company}', id::uuid, id, 'Person', now(), now() from unnest('{${ada},${bob}}'::text[]) as id;
     insert into "group" (company_id, id, name, created_at) values ('${company}', '${group}', 'All', now());
     insert into category (company_id, id, names, visibility, created_at)
       values ('${company}', '${category}', '{"en": "All", "fr": "Tous"}', 'public', now());`
  )
  for (const [n, [person, period, size, isMade]] of uploads.entries()) {
    await asOwner(
      database,
      `begin;
       insert into request (company_id, id, user_id, kind, state, seq, created_at, facts)
         values ('${company}', '${id(n)}', '${person}', 'deposit', '${isMade ? 'done' : 'uploading'}', 0, now(), '{}');
       insert into upload (company_id, id, request_id, user_id, category_id, record_id, size, media_type,
           name, state, group_id, period_start, created_at, active_at)
         values ('${company}', '${n}', '${id(n)}', '${person}', '${category}', '${n}', ${size}, 'text/plain',
           'a', '${isMade ? 'settled' : 'uploading'}', '${group}', '${period}', now(), now());
       insert into deposit (company_id, id, request_id, user_id, category_id, visibility, recorded_at)
         select '${company}', '${n}', '${id(n)}', '${person}', '${category}', 'public', now() where ${isMade};
       commit`
    )
  }
  await migrateRest()
  const epoch = '1970-01-01T00:00:00.000Z'
  const found = await asOwner(
    database,
    'select user_id, kind, period_start, used::int from user_usage order by user_id, kind, period_start'
  )
  expect(
    found.map(row => [row.user_id, row.kind, row.period_start.toISOString(), row.used])
  ).toEqual([
    [ada, 'requests', first, 2],
    [ada, 'requests', second, 1],
    [ada, 'storage', epoch, 123],
    [bob, 'requests', second, 1],
    [bob, 'storage', epoch, 4000]
  ])
})

test('gives hosts a record whose wildcard was lost, and notes which wildcard covers the others', async () => {
  const migrateRest = await migrateUpTo('0045-prove-covered-hosts.sql')
  const id = (n: number) => `${company.slice(0, -2)}${String(n).padStart(2, '0')}`
  const [operator, lodger, stranger, first] = [id(1), id(2), id(3), id(4)]
  const ago = (days: number) => `now() - interval '${days} days'`
  let ids = 10
  const domain = (owner: string, host: string, verified: string, rest = 'null, null') =>
    `('${owner}', '${id(++ids)}', '${host}', 'A', 'A', false, 'en', '{}', ${verified}, ${rest})`
  const wildcard = (owner: string, host: string, verified = ago(9)) =>
    domain(owner, host, verified, `'token', null`)
  const covered = ago(8)
  const entry = (n: number, owner: string, action: string, target: number, at: string) =>
    `('${owner}', ${n}, '${id(60 + n)}', ${at}, '${id(50)}', '${operator}', '${owner}', '${action}',
      '${id(target)}', sha256(''))`
  await asOwner(
    database,
    `insert into company (id, name, created_at) values ('${first}', 'First', ${ago(20)}),
       ('${operator}', 'Operator', now()), ('${lodger}', 'Lodger', now()),
       ('${stranger}', 'Stranger', now());
     insert into "user" (company_id, id, email, username, permissions, tokens_valid_after, created_at)
       values ('${operator}', '${id(50)}', 'op@example.com', 'Op', '{operator}', now(), now()),
              ('${first}', '${id(51)}', 'op@example.com', 'Op', '{operator}', now(), now());
     insert into domain (company_id, id, host, name, title, public, locale, theme, verified_at,
         proof_token, quarantined_at) values
       ${domain(operator, '*.quarantined.fr', 'null', `'token', ${ago(1)}`)},
       ${domain(stranger, '*.strange.fr', 'null', `'token', ${ago(1)}`)},
       ${wildcard(lodger, '*.moved.fr')},
       ${domain(lodger, 'docs.quarantined.fr', covered)},
       ${domain(lodger, 'early.quarantined.fr', ago(10))},
       ${domain(lodger, 'docs.strange.fr', covered)},
       ${domain(stranger, 'own.strange.fr', covered)},
       ${domain(lodger, 'docs.removed.fr', covered)},
       ${domain(lodger, 'later.removed.fr', 'now()')},
       ${domain(operator, 'docs.moved.fr', covered)},
       ${domain(lodger, 'legal.moved.fr', covered)},
       ${wildcard(operator, '*.kept.fr')},
       ${domain(lodger, 'docs.kept.fr', covered)},
       ${domain(lodger, 'early.kept.fr', ago(10))},
       ${wildcard(stranger, '*.other.fr')},
       ${domain(lodger, 'docs.other.fr', covered)},
       ${domain(stranger, 'own.other.fr', covered)},
       ${domain(first, 'site.kept.fr', covered)},
       ${domain(lodger, 'docs.lodger.fr', covered)};
     insert into audit_entry (company_id, seq, id, created_at, actor_id, actor_company_id, acted_in,
         action, target_id, hash) values
       ${entry(1, operator, 'domain.verify', 11, ago(9))},
       ${entry(2, operator, 'domain.verify', 49, ago(9))},
       ${entry(3, operator, 'domain.delete', 49, ago(1))},
       ${entry(4, lodger, 'domain.move', 13, ago(1))},
       ${entry(5, stranger, 'domain.verify', 12, ago(9))};
     insert into audit_value (company_id, seq, salt, changes) values
       ('${operator}', 3, sha256(''), '{"after":{},"before":{"host":"*.removed.fr","name":"A"}}'),
       ('${lodger}', 4, sha256(''),
        '{"after":{"host":"*.moved.fr"},"before":{"company_id":"${operator}"}}');`
  )
  await migrateRest()
  const proved = await asOwner(
    database,
    `select host from domain
      where proof_token ~ '^[0-9a-f]{40}$' and checked_at > now() - interval '1 hour'
        and failing_since = checked_at and covered_by is null order by 1`
  )
  expect(proved.map(({ host }) => host)).toEqual([
    'docs.moved.fr',
    'docs.quarantined.fr',
    'docs.removed.fr',
    'own.strange.fr'
  ])
  const noted = await asOwner(
    database,
    `select host, covered_by from domain
      where covered_by is not null and proof_token is null and failing_since is null order by 1`
  )
  expect(noted).toEqual([
    { host: 'docs.kept.fr', covered_by: operator },
    { host: 'legal.moved.fr', covered_by: lodger },
    { host: 'own.other.fr', covered_by: stranger }
  ])
})

test('folds names, numbers those that no longer differ, and ends keys, as an owner who is no superuser', async () => {
  const owner = await makeOwner()
  const migrateRest = await migrateUpTo('0050-read-hosts-by-change.sql', owner)
  const id = (n: number) => `${company.slice(0, -2)}${String(n).padStart(2, '0')}`
  const long = 'œ'.repeat(78)
  const wide = '😀'.repeat(62)
  const groups = ['Œuf œ', 'Oeuf œ', 'Œuf oe', 'Oeuf oe (2)', `œ${long}`, `oe${long}`]
  const categories = [
    ['Œuf œ', 'Ærø'],
    ['Oeuf œ', 'Aerø'],
    ['Œuf oe', 'AERO'],
    ['Oeuf oe (2)', `${wide}œœœ`],
    ['L\u2019œuf', `${wide}oeœœ`],
    ["L'oeuf", 'L’œuf']
  ]
  const text = (given: unknown) => `'${JSON.stringify(given).replaceAll("'", "''")}'`
  await asOwner(
    database,
    `insert into company (id, name, created_at) values ('${company}', 'Sørø', now());
     insert into "user" (company_id, id, email, username, tokens_valid_after, created_at)
       values ('${company}', '${id(1)}', 'a@example.com', 'Bjørn', now(), now());
     insert into "group" (company_id, id, name, created_at)
       select '${company}', ('${company.slice(0, -2)}' || n + 9)::uuid, name, now() + n * interval '1 s'
         from jsonb_array_elements_text(${text(groups)}) with ordinality as given (name, n);
     insert into category (company_id, id, names, visibility, created_at)
       select '${company}', ('${company.slice(0, -2)}' || n + 29)::uuid,
              jsonb_build_object('en', names->0, 'fr', names->1), 'public', now() + n * interval '1 s'
         from jsonb_array_elements(${text(categories)}) with ordinality as given (names, n);
     insert into request (company_id, id, user_id, kind, state, seq, created_at, facts, search_name)
       values ('${company}', '${id(50)}', '${id(1)}', 'deposit', 'done', 0, now(), '{}', 'œuvre');
     insert into api_key (company_id, id, user_id, created_by, name, scopes, hash, hint, created_at, expires_at)
       values ('${company}', '${id(60)}', '${id(1)}', '${id(1)}', 'Key', '{deposit}', sha256(''), 'a', now(),
               now() + interval '5 years');`
  )
  await migrateRest()
  const found = async (statement: string) =>
    (await asOwner(database, statement)).map(row => row.found)
  expect(await found('select name as found from "group" order by created_at')).toEqual([
    'Œuf œ',
    'Oeuf œ (4)',
    'Œuf oe (3)',
    'Oeuf oe (2)',
    `œ${long}`,
    `oe${long.slice(0, 58)} (2)`
  ])
  expect(
    await found(
      `select array[names->>'en', names->>'fr'] as found from category order by created_at`
    )
  ).toEqual([
    ['Œuf œ', 'Ærø'],
    ['Oeuf œ (4)', 'Aerø (2)'],
    ['Œuf oe (3)', 'AERO (3)'],
    ['Oeuf oe (2)', `${wide}œœœ`],
    ['L\u2019œuf', `${wide.slice(0, 120)} (2)`],
    ["L'oeuf (2)", 'L’œuf']
  ])
  expect(
    await found(`select search_en as found from category order by created_at limit 2`)
  ).toEqual(['oeuf oe', 'oeuf oe (4)'])
  expect(await found(`select search as found from company`)).toEqual(['soro'])
  expect(await found(`select search as found from "user"`)).toEqual(['bjorn a@example.com'])
  expect(await found(`select search_name as found from request`)).toEqual(['oeuvre'])
  expect(
    await found(`select expires_at < now() + interval '366 days' as found from api_key`)
  ).toEqual([true])
  expect(
    await found(
      `select relname as found from pg_class where relrowsecurity and not relforcerowsecurity`
    )
  ).toEqual([])
})

test('notes the imports of memberships and keeps words of permissions in every company, as an owner who is no superuser', async () => {
  const next = '0055-fill-imported-memberships.sql'
  const migrateRest = await migrateUpTo(next, await makeOwner())
  const id = (n: number) => `${company.slice(0, -1)}${n}`
  const [person, given, own, done, undone] = [id(1), id(2), id(3), id(4), id(5)]
  const companies = [company, id(9)]
  for (const each of companies) {
    await asOwner(
      database,
      `insert into company (id, name, created_at) values ('${each}', 'Acme', now());
       insert into "user" (company_id, id, email, username, tokens_valid_after, created_at)
         values ('${each}', '${person}', 'a@example.com', 'Ada', now(), now());
       insert into "group" (company_id, id, name, created_at)
         values ('${each}', '${given}', 'Given', now()), ('${each}', '${own}', 'Own', now());
       insert into group_user (company_id, group_id, user_id)
         values ('${each}', '${given}', '${person}'), ('${each}', '${own}', '${person}');
       insert into import (company_id, id, file_name, created_at, created_by, expires_at, host, options,
           row_count, state)
         select '${each}', id::uuid, 'a.csv', now(), '${person}', now(), 'docs.acme.fr', '{}', 1, state
           from (values ('${done}', 'done'), ('${undone}', 'undone')) as import (id, state);
       insert into import_row (company_id, import_id, number, cells, bytes, verdict, user_id, group_ids)
         values ('${each}', '${done}', 1, '[]', 2, 'changed', '${person}', '{${given}}'),
                ('${each}', '${undone}', 1, '[]', 2, 'changed', '${person}', '{${own}}');
       insert into audit_entry (company_id, seq, id, created_at, actor_id, actor_company_id, acted_in,
           action, target_id, hash)
         values ('${each}', 1, '${id(6)}', now(), '${person}', '${each}', '${each}', 'user.permissions',
                   '${person}', sha256('')),
                ('${each}', 2, '${id(7)}', now(), '${person}', '${each}', '${each}', 'user.update',
                   '${person}', sha256(''));
       insert into audit_value (company_id, seq, person_id, salt, changes)
         select '${each}', seq, '${person}', sha256(''), '{}' from unnest('{1,2}'::int[]) as seq;`
    )
  }
  await migrateRest()
  expect(
    await asOwner(
      database,
      'select company_id, group_id, imported_by from group_user order by company_id, group_id'
    )
  ).toEqual(
    companies.flatMap(company_id => [
      { company_id, group_id: given, imported_by: done },
      { company_id, group_id: own, imported_by: null }
    ])
  )
  expect(
    await asOwner(
      database,
      'select company_id, seq::int, person_id from audit_value order by company_id, seq'
    )
  ).toEqual(
    companies.flatMap(company_id => [
      { company_id, seq: 1, person_id: null },
      { company_id, seq: 2, person_id: person }
    ])
  )
})

test('knows the hosts below wildcards that were in use, as an owner who is no superuser', async () => {
  const migrateRest = await migrateUpTo('0060-count-certificates.sql', await makeOwner())
  const id = (n: number) => `${company.slice(0, -1)}${n}`
  await asOwner(
    database,
    `insert into company (id, name, created_at) values ('${company}', 'Acme', now()), ('${id(1)}', 'Beta', now());
     insert into domain (company_id, id, host, name, title, public, locale, theme, verified_at) values
       ('${company}', '${id(2)}', '*.acme.fr', 'A', 'A', false, 'en', '{}', now()),
       ('${company}', '${id(3)}', '*.unproved.fr', 'A', 'A', false, 'en', '{}', null);
     insert into mail (company_id, id, kind, email, locale, host, created_at, next_at)
       select company_id::uuid, gen_random_uuid(), 'reset', 'a@example.com', 'en', host, now(), now()
         from (values ('${company}', 'docs.acme.fr'), ('${company}', 'docs.acme.fr'),
           ('${company}', 'a.docs.acme.fr'), ('${company}', 'docs.unproved.fr'),
           ('${id(1)}', 'theirs.acme.fr')) as given (company_id, host);
     insert into signup (company_id, id, email, username, locale, key_id, kdf, pub_enc, kek_id,
         created_at, expires_at, host)
       select '${company}', gen_random_uuid(), 'a@example.com', 'Ada', 'en', gen_random_uuid(), '', '', '',
              now(), now(), host
         from unnest(array['signup.acme.fr', null]) as host;
     insert into import (company_id, id, file_name, created_at, created_by, expires_at, host, options,
         row_count)
       values ('${company}', '${id(4)}', 'a.csv', now(), '${id(5)}', now(), 'import.acme.fr', '{}', 1);`
  )
  await migrateRest()
  expect(
    await asOwner(database, 'select name, wildcard from certificate_name order by name')
  ).toEqual([
    { name: 'docs.acme.fr', wildcard: '*.acme.fr' },
    { name: 'import.acme.fr', wildcard: '*.acme.fr' },
    { name: 'signup.acme.fr', wildcard: '*.acme.fr' }
  ])
})

test('notes the root secret that sealed the digests of uploads, as an owner who is no superuser', async () => {
  const migrateRest = await migrateUpTo('0070-note-sealing-keys.sql', await makeOwner())
  const id = (n: number) => `${company.slice(0, -1)}${n}`
  const [sealed, plain] = ['ab'.repeat(60), 'ab'.repeat(32)]
  await asOwner(
    database,
    `insert into installation (kek_id, created_at) values ('0a1b2c3d', now());
     insert into company (id, name, created_at) values ('${company}', 'Acme', now()), ('${id(1)}', 'Beta', now());
     alter table upload disable trigger all;
     insert into upload (company_id, id, request_id, user_id, category_id, record_id, size, media_type, name,
         original, stored, state, group_id, period_start, created_at, active_at)
       select company::uuid, name, gen_random_uuid(), '${id(2)}', '${id(3)}', name, 1, 'text/plain', name,
              decode(original, 'hex'), decode(stored, 'hex'), 'uploading', '${id(4)}', now(), now(), now()
         from (values ('${company}', 'a', '${sealed}', '${sealed}'), ('${id(1)}', 'b', '${sealed}', null),
           ('${company}', 'c', '${plain}', '${plain}'), ('${company}', 'd', null, null))
           as given (company, name, original, stored);
     alter table upload enable trigger all;`
  )
  await migrateRest()
  expect(await asOwner(database, 'select name, kek_id from upload order by name')).toEqual([
    { name: 'a', kek_id: '0a1b2c3d' },
    { name: 'b', kek_id: '0a1b2c3d' },
    { name: 'c', kek_id: null },
    { name: 'd', kek_id: null }
  ])
})

test('makes an application role that can log in and nothing more', async () => {
  const roles = `select rolname, rolcanlogin, rolsuper or rolbypassrls or rolcreaterole
      or rolcreatedb or rolreplication as mighty from pg_roles where rolname like 'vidimus_%' order by 1`
  expect(await asOwner('postgres', roles)).toEqual([
    { rolname: 'vidimus_app', rolcanlogin: true, mighty: false },
    { rolname: 'vidimus_resolver', rolcanlogin: false, mighty: false }
  ])
})

test('finds no fault in the real schema, and names those that are planted', async () => {
  await using made = await makeDb()
  // the test server itself is not durable
  const off = ['fsync', 'full_page_writes', 'synchronous_commit'].map(
    name => `The database setting ${name} is off.`
  )
  expect((await findDatabaseFaults(made.db)).sort()).toEqual(off)
  await made.owner.query(
    `create table loose (company_id uuid);
     create table half (company_id uuid); alter table half enable row level security;
     create table owned (n int); alter table owned owner to vidimus_app;
     create policy loose on deposit using (true);
     create policy sly on upload for insert
       with check (company_id = nullif(current_setting('app.company_id', true), '')::uuid or true);
     create policy owners on event to postgres using (true);
     create table open (company_id uuid); alter table open enable row level security;
     alter table open force row level security; create policy tenant on open using (true);
     create function peek() returns int language sql security definer as 'select 1';
     create function list_companies(n int) returns int language sql security definer as 'select 1';
     create schema attic;
     create function attic.remove_demo(uuid) returns int language sql security definer as 'select 1'`
  )
  expect((await findDatabaseFaults(made.db)).filter(fault => !off.includes(fault)).sort()).toEqual([
    "Function attic.remove_demo(uuid) runs with its owner's rights.",
    "Function list_companies(integer) runs with its owner's rights.",
    "Function peek() runs with its owner's rights.",
    'Policy loose of table deposit lets requests reach rows of other companies.',
    'Policy sly of table upload lets requests reach rows of other companies.',
    'Policy tenant of table open lets requests reach rows of other companies.',
    'Table half holds rows of companies without forced row-level security.',
    'Table loose holds rows of companies without forced row-level security.',
    'The request role owns owned.'
  ])
})

/**
 * Runs the product's migrations that come before `next`. Returns a function that runs the others.
 */
async function migrateUpTo(
  next: string,
  place: DatabaseLocation = { socketDir, database }
): Promise<() => Promise<unknown>> {
  const ours = join(import.meta.dirname, '../../../../src/server/db/migrations')
  const names = (await readdir(ours)).filter(name => name.endsWith('.sql')).sort()
  const from = names.indexOf(next)
  const copy = async (name: string) => copyFile(join(ours, name), join(directory, name))
  await Promise.all(names.slice(0, from).map(copy))
  await migrate({ ...place, directory })
  return async () => {
    await Promise.all(names.slice(from).map(copy))
    return migrate({ ...place, directory })
  }
}

function migrateHere() {
  return migrate({ socketDir, database, directory })
}

/** Creates the database of the test. Its owner is a login to which row-level security applies. */
async function makeOwner(): Promise<DatabaseLocation> {
  await asOwner('postgres', `create role ${database} login createrole`)
  onTestFinished(async () => void (await asOwner('postgres', `drop role ${database}`)))
  await asOwner(
    'postgres',
    // the roles of this server exist already, and since PostgreSQL 16 only their maker may grant them
    `grant vidimus_app, vidimus_resolver to ${database} with admin option`
  )
  await asOwner('postgres', `create database ${database} owner ${database}`)
  return { url: `postgres:///${database}?host=${socketDir}&user=${database}` }
}

function file(name: string, sql: string) {
  return writeFile(join(directory, name), sql)
}

async function asOwner(name: string, text: string) {
  const client = new pg.Client(socketConnectionConfig(socketDir, name, 'postgres'))
  await client.connect()
  const { rows } = await client.query(text)
  await client.end()
  return rows
}
