-- What an operator sees of all companies. The hosts are read for a page of companies only.
-- `all_companies()` stays for processes of the earlier release.
create function installed_companies()
returns table (
  id uuid, name text, search text, created_at timestamptz, version bigint, disabled jsonb,
  is_demo boolean
)
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select id, name, search, created_at, version, disabled, demo is not null from public.company
$$;
alter function installed_companies() owner to vidimus_resolver;
revoke all on function installed_companies() from public;
grant execute on function installed_companies() to vidimus_app;

-- How many domains several companies have, and the first of each.
create function first_domains(wanted uuid[])
returns table (company_id uuid, domain_count bigint, first jsonb)
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select company.id,
         (select count(*) from public.domain d where d.company_id = company.id),
         (select jsonb_build_object('id', d.id, 'host', d.host, 'verified', d.verified_at is not null)
            from public.domain d where d.company_id = company.id
           order by d.verified_at is null, d.host limit 1)
    from unnest(wanted) as company (id)
$$;
alter function first_domains(uuid[]) owner to vidimus_resolver;
revoke all on function first_domains(uuid[]) from public;
grant execute on function first_domains(uuid[]) to vidimus_app;

-- Whether another company of this name claims a host. Tells nothing else of it.
create index domain_any_host on domain (host);
create function is_claimed_by_namesake(wanted_name text, wanted_host text) returns boolean
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select exists (
    select from public.domain d join public.company c on c.id = d.company_id
     where d.host = wanted_host and c.name = wanted_name
       and c.id <> nullif(current_setting('app.company_id', true), '')::uuid
  )
$$;
alter function is_claimed_by_namesake(text, text) owner to vidimus_resolver;
revoke all on function is_claimed_by_namesake(text, text) from public;
grant execute on function is_claimed_by_namesake(text, text) to vidimus_app;

-- Hosts that begin or cease to be served, so that processes read these and not all hosts again. A
-- process names the oldest transaction that was still running when it last looked: later rows are new
-- to it. Rows are kept for five minutes.
create table host_change (
  xid xid8 not null default pg_current_xact_id(),
  host text not null,
  changed_at timestamptz not null default clock_timestamp()
);
create index host_change_xid on host_change (xid);
create index host_change_time on host_change (changed_at);
grant select on host_change to vidimus_app;
grant select, insert, update, delete on host_change to vidimus_resolver;
create function note_host_change() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  former text;
  present text;
begin
  if tg_op <> 'INSERT' and old.verified_at is not null then former := old.host; end if;
  if tg_op <> 'DELETE' and new.verified_at is not null then present := new.host; end if;
  if former is not distinct from present then return null; end if;
  insert into public.host_change (host)
  select host from unnest(array[former, present]) as changed (host) where host is not null;
  delete from public.host_change where ctid in (
    select ctid from public.host_change where changed_at < clock_timestamp() - interval '5 minutes'
     order by changed_at limit 10 for update skip locked
  );
  return null;
end
$$;
alter function note_host_change() owner to vidimus_resolver;
revoke all on function note_host_change() from public;
create trigger host_change after insert or delete or update of host, verified_at on domain
  for each row execute function note_host_change();
