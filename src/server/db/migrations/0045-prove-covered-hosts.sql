-- An operator's wildcard proves hosts of other companies, too. They need a record of their own once the
-- wildcard is lost.
grant update (proof_token, checked_at) on domain to vidimus_resolver;
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

-- Gives a record to the hosts of all companies that a lost wildcard has proved, except those of the
-- company that has the wildcard now.
create function require_own_proofs(wildcard text, seed text, now timestamptz) returns void
language sql security definer set search_path = pg_catalog, pg_temp
as $$
  update public.domain d
     set proof_token = substr(encode(sha256(convert_to(seed || d.id, 'UTF8')), 'hex'), 1, 40),
         checked_at = now
   where d.verified_at is not null and d.proof_token is null
     and d.host not like '*%' and '*' || substr(d.host, strpos(d.host, '.')) = wildcard
     and not exists (
       select from public.domain own
        where own.company_id = d.company_id and own.host = wildcard and own.verified_at is not null
     )
$$;
alter function require_own_proofs(text, text, timestamptz) owner to vidimus_resolver;
revoke all on function require_own_proofs(text, text, timestamptz) from public;
grant execute on function require_own_proofs(text, text, timestamptz) to vidimus_app;

-- The hosts of other companies whose wildcard was lost before: quarantined, removed or moved. Without
-- checks of DNS nobody has a token, and nothing has to be proved.
alter table domain no force row level security;
alter table audit_entry no force row level security;
alter table audit_value no force row level security;
with lost (host, at) as (
  select host, quarantined_at from domain where quarantined_at is not null
  union all
  select v.changes::jsonb #>> '{before,host}', e.created_at
    from audit_entry e join audit_value v using (company_id, seq)
   where e.action = 'domain.delete'
  union all
  select d.host, e.created_at
    from audit_entry e join domain d on d.company_id = e.company_id and d.id = e.target_id
   where e.action = 'domain.move'
)
update domain d
   set proof_token = substr(encode(sha256(convert_to(
         gen_random_uuid()::text || gen_random_uuid(), 'UTF8')), 'hex'), 1, 40),
       checked_at = now()
 where d.verified_at is not null and d.proof_token is null and d.host not like '*%'
   and exists (
     select from lost
      where lost.host = '*' || substr(d.host, strpos(d.host, '.')) and d.created_at < lost.at
   )
   and not exists (
     select from domain own
      where own.company_id = d.company_id and own.verified_at is not null
        and own.host = '*' || substr(d.host, strpos(d.host, '.'))
   )
   and exists (select from domain proved where proved.proof_token is not null);
alter table domain force row level security;
alter table audit_entry force row level security;
alter table audit_value force row level security;
