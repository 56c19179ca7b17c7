-- Platform: codes that let the first operator in, hashed. Empty once there is one.
create table setup_code (
  hash bytea primary key,
  created_at timestamptz not null
);
grant select, insert, delete on setup_code to vidimus_app;

-- A company that shows the product, with fictional documents: `seeding` while they are being made.
alter table company
  add column demo text check (demo in ('seeding', 'ready')),
  -- who is at it; an end in the past lets another process go on
  add column demo_leased_until timestamptz;

-- A company is a demonstration from its first moment or never: else whoever serves requests could make
-- any company one, and then remove it with all its records.
revoke update on company from vidimus_app;
grant update (name, disabled, demo, demo_leased_until) on company to vidimus_app;
create function keep_demo_mark() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  if (old.demo is null) <> (new.demo is null) then
    raise insufficient_privilege using message = 'a company cannot become a demonstration or cease to be one';
  end if;
  return new;
end
$$;
revoke all on function keep_demo_mark() from public;
create trigger keep_demo_mark before update on company
  for each row execute function keep_demo_mark();

drop function resolve_host(text);
create function resolve_host(wanted text)
returns table (
  company_id uuid, company_name text, company_disabled jsonb, company_demo boolean, domain_id uuid,
  host text, name text, title text, public boolean, locale text, theme jsonb, contact text,
  version bigint
)
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select d.company_id, c.name, c.disabled, c.demo is not null, d.id, d.host, d.name, d.title, d.public,
         d.locale, d.theme, d.contact, d.version
  from public.domain d join public.company c on c.id = d.company_id
  where d.verified_at is not null
    and (d.host = wanted
      or (d.host = '*.' || substr(wanted, strpos(wanted, '.') + 1)
          and strpos(wanted, '.') > 1 and left(wanted, strpos(wanted, '.') - 1) <> 'api'))
  order by d.host = wanted desc
  limit 1
$$;
alter function resolve_host(text) owner to vidimus_resolver;
revoke all on function resolve_host(text) from public;
grant execute on function resolve_host(text) to vidimus_app;

-- The installation's own company first, a demonstration last.
create or replace function list_companies() returns setof uuid
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$ select id from public.company order by demo is not null, created_at, id $$;

-- Records cannot be deleted by the role that serves requests. Those of a demonstration can, all of them
-- at once, by this function; its owner sees one company at a time like every role, and of its rows
-- nothing but whose they are.
do $$
declare
  tenant regclass;
begin
  for tenant in
    select c.oid::regclass
    from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace
      and a.attname = 'company_id' and not a.attisdropped
  loop
    execute format('grant select (company_id), delete on %s to vidimus_resolver', tenant);
  end loop;
end $$;
-- locking a row takes the right to change it
grant update (demo), delete on company to vidimus_resolver;

create function remove_demo(wanted uuid) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  waiting regclass[];
  next_table regclass;
begin
  -- what is still being written refers to the company in the end, and waits or has to be waited for
  perform from public.company where id = wanted and demo is not null for update;
  if not found then
    return false;
  end if;
  select array_agg(c.oid::regclass) into waiting
  from pg_class c join pg_attribute a on a.attrelid = c.oid
  where c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace
    and a.attname = 'company_id' and not a.attisdropped;
  while cardinality(waiting) > 0 loop
    -- one that no other still to come refers to
    select t into next_table from unnest(waiting) as t
    where not exists (
      select from pg_constraint f
      where f.contype = 'f' and f.confrelid = t and f.conrelid <> t and f.conrelid = any (waiting)
    )
    limit 1;
    if next_table is null then
      raise 'tables refer to each other in a circle';
    end if;
    execute format('delete from %s where company_id = $1', next_table) using wanted;
    waiting := array_remove(waiting, next_table);
  end loop;
  delete from public.company where id = wanted;
  return true;
end
$$;
alter function remove_demo(uuid) owner to vidimus_resolver;
revoke all on function remove_demo(uuid) from public;
grant execute on function remove_demo(uuid) to vidimus_app;
