-- Companies are changed by their administrators and by operators, who name the version they have seen.
alter table company
  add column version bigint not null default 1,
  add column search text not null generated always as (fold_text(name)) stored;
grant update (version) on company to vidimus_app;

-- What an operator sees of all companies: no row of theirs but names, hosts and whether they are suspended.
create function all_companies()
returns table (
  id uuid, name text, search text, created_at timestamptz, version bigint, disabled jsonb,
  is_demo boolean, domains jsonb
)
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select c.id, c.name, c.search, c.created_at, c.version, c.disabled, c.demo is not null,
         (select coalesce(jsonb_agg(jsonb_build_object(
                   'id', d.id, 'host', d.host, 'verified', d.verified_at is not null) order by d.host), '[]')
            from public.domain d where d.company_id = c.id)
  from public.company c
$$;
alter function all_companies() owner to vidimus_resolver;
revoke all on function all_companies() from public;
grant execute on function all_companies() to vidimus_app;
