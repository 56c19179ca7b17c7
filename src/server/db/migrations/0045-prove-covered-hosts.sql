-- A company's wildcard proves the hosts below it, an operator's wildcard also those of other companies. They
-- need a record of their own once the company no longer has the wildcard.
alter table domain
  -- the company whose wildcard proves the host; null where the host has a proof of its own or needs none
  add column covered_by uuid;
grant update (proof_token, checked_at, failing_since, covered_by) on domain to vidimus_resolver;
create policy prover on domain for update to vidimus_resolver
  using (verified_at is not null) with check (verified_at is not null);

-- Whether a proved wildcard of a company covers a host. Locks the wildcard until the transaction ends, so
-- that it is not lost before a host is stored that needs no proof because of it.
create function is_covered_by(company uuid, wanted text) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform from public.domain
    where company_id = company and host = '*' || substr(wanted, strpos(wanted, '.'))
      and verified_at is not null
    for key share;
  return found;
end
$$;
alter function is_covered_by(uuid, text) owner to vidimus_resolver;
revoke all on function is_covered_by(uuid, text) from public;
grant execute on function is_covered_by(uuid, text) to vidimus_app;

-- Gives a record to the hosts of all companies that a wildcard has proved which the company of the
-- transaction has lost. The hosts of the company that has the wildcard now are proved by it from now on.
create function require_own_proofs(wildcard text, seed text, now timestamptz) returns void
language sql security definer set search_path = pg_catalog, pg_temp
as $$
  update public.domain d
     set covered_by = d.company_id
   where d.covered_by = nullif(current_setting('app.company_id', true), '')::uuid
     and d.verified_at is not null and '*' || substr(d.host, strpos(d.host, '.')) = wildcard
     and exists (
       select from public.domain own
        where own.company_id = d.company_id and own.host = wildcard and own.verified_at is not null
     );
  update public.domain d
     set proof_token = substr(encode(sha256(convert_to(seed || d.id, 'UTF8')), 'hex'), 1, 40),
         checked_at = now, failing_since = now, covered_by = null
   where d.covered_by = nullif(current_setting('app.company_id', true), '')::uuid
     and d.verified_at is not null and '*' || substr(d.host, strpos(d.host, '.')) = wildcard
$$;
alter function require_own_proofs(text, text, timestamptz) owner to vidimus_resolver;
revoke all on function require_own_proofs(text, text, timestamptz) from public;
grant execute on function require_own_proofs(text, text, timestamptz) to vidimus_app;

-- The hosts that were created below a wildcard which DNS had proved before, of its own company or of an
-- operator's. The others were proved in another way, and so was the host of the installation.
alter table domain no force row level security;
alter table audit_entry no force row level security;
alter table audit_value no force row level security;
alter table "user" no force row level security;
with proved (company_id, host, proved_at, lost_at) as (
  select company_id, host, verified_at, null::timestamptz
    from domain where verified_at is not null and proof_token is not null
  union all
  -- in quarantine
  select w.company_id, w.host, v.created_at, w.quarantined_at
    from domain w join audit_entry v
      on v.company_id = w.company_id and v.target_id = w.id and v.action = 'domain.verify'
   where w.quarantined_at is not null
  union all
  -- removed
  select e.company_id, f.changes::jsonb #>> '{before,host}', v.created_at, e.created_at
    from audit_entry e join audit_value f using (company_id, seq)
    join audit_entry v
      on v.company_id = e.company_id and v.target_id = e.target_id and v.action = 'domain.verify'
   where e.action = 'domain.delete'
  union all
  -- moved to the company that has it now
  select (f.changes::jsonb #>> '{before,company_id}')::uuid, w.host, w.verified_at, e.created_at
    from audit_entry e join audit_value f using (company_id, seq)
    join domain w on w.company_id = e.company_id and w.id = e.target_id
   where e.action = 'domain.move' and w.verified_at is not null and w.proof_token is not null
), covered (company_id, id, covered_by) as (
  select d.company_id, d.id, coalesce(
      (array_agg(w.company_id) filter (where w.lost_at is null))[1],
      (select own.company_id from domain own
        where own.company_id = d.company_id and own.verified_at is not null
          and own.host = '*' || substr(d.host, strpos(d.host, '.'))))
    from domain d join proved w
      on w.host = '*' || substr(d.host, strpos(d.host, '.'))
     and w.proved_at < d.verified_at and d.verified_at < coalesce(w.lost_at, 'infinity')
   where d.proof_token is null and d.host not like '*%'
     and (w.company_id = d.company_id or exists (
       select from "user" u
        where u.company_id = w.company_id and 'operator' = any (u.permissions) and u.deleted_at is null
     ))
     and d.id is distinct from (
       select own.id from domain own join company c on c.id = own.company_id
        where c.demo is null order by c.created_at, c.id, own.id limit 1
     )
   group by d.company_id, d.id
)
update domain d
   set covered_by = c.covered_by,
       proof_token = case when c.covered_by is null then substr(encode(sha256(convert_to(
         gen_random_uuid()::text || gen_random_uuid(), 'UTF8')), 'hex'), 1, 40) end,
       checked_at = case when c.covered_by is null then now() end,
       failing_since = case when c.covered_by is null then now() end
  from covered c
 where c.company_id = d.company_id and c.id = d.id;
alter table domain force row level security;
alter table audit_entry force row level security;
alter table audit_value force row level security;
alter table "user" force row level security;
