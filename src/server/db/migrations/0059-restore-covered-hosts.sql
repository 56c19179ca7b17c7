-- A host that has lost the wildcard which proved it is proved again when the wildcard returns.
alter table domain
  -- the company whose wildcard proved the host until that wildcard was lost
  add column covered_before uuid;
create index domain_covered on domain (covered_by) where covered_by is not null;
create index domain_covered_before on domain (covered_before) where covered_before is not null;
grant update (covered_before, verified_at, quarantined_at) on domain to vidimus_resolver;
alter policy prover on domain
  using (verified_at is not null or covered_before is not null) with check (verified_at is not null);

-- The hosts of other companies that a wildcard of the company of the transaction proves.
create function hosts_of_others_below(wildcard text)
returns table (company_id uuid, company text, host text)
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select d.company_id, c.name, d.host
    from public.domain d join public.company c on c.id = d.company_id
   where d.covered_by = nullif(current_setting('app.company_id', true), '')::uuid
     and d.company_id <> d.covered_by
     and d.verified_at is not null and '*' || substr(d.host, strpos(d.host, '.')) = wildcard
$$;
alter function hosts_of_others_below(text) owner to vidimus_resolver;
revoke all on function hosts_of_others_below(text) from public;
grant execute on function hosts_of_others_below(text) to vidimus_app;

-- As before, and notes whose wildcard it was. Returns the hosts that need a record of their own now.
drop function require_own_proofs(text, text, timestamptz);
create function require_own_proofs(wildcard text, seed text, now timestamptz)
returns table (company_id uuid, id uuid, host text)
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
         checked_at = now, failing_since = now, covered_before = d.covered_by, covered_by = null
   where d.covered_by = nullif(current_setting('app.company_id', true), '')::uuid
     and d.verified_at is not null and '*' || substr(d.host, strpos(d.host, '.')) = wildcard
  returning d.company_id, d.id, d.host
$$;
alter function require_own_proofs(text, text, timestamptz) owner to vidimus_resolver;
revoke all on function require_own_proofs(text, text, timestamptz) from public;
grant execute on function require_own_proofs(text, text, timestamptz) to vidimus_app;

-- Proves the hosts again that a wildcard of the company had proved, if the company has it now. Leaves out
-- hosts that have a record of their own and those that another company has proved meanwhile.
create function restore_covered_hosts(company uuid, wildcard text, now timestamptz)
returns table (company_id uuid, id uuid, host text)
language sql security definer set search_path = pg_catalog, pg_temp
as $$
  update public.domain d
     set covered_by = company, covered_before = null, proof_token = null, checked_at = null,
         failing_since = null, verified_at = coalesce(d.verified_at, now), quarantined_at = null
   where d.covered_before = company and d.failing_since is not null
     and '*' || substr(d.host, strpos(d.host, '.')) = wildcard
     and exists (
       select from public.domain own
        where own.company_id = company and own.host = wildcard and own.verified_at is not null
     )
     and (d.verified_at is not null or not exists (
       select from public.domain taken where taken.host = d.host and taken.verified_at is not null
     ))
  returning d.company_id, d.id, d.host
$$;
alter function restore_covered_hosts(uuid, text, timestamptz) owner to vidimus_resolver;
revoke all on function restore_covered_hosts(uuid, text, timestamptz) from public;
grant execute on function restore_covered_hosts(uuid, text, timestamptz) to vidimus_app;
