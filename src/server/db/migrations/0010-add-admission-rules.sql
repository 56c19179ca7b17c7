-- The host where a sign-up was made, which its link has to lead to; null for those made before.
alter table signup add column host text;

-- When each invitation is or was mailed, so that no address and no company gets more than its share.
create table invitation (
  company_id uuid not null references company (id),
  id uuid not null,
  -- pseudonym of the address
  recipient bytea not null,
  due_at timestamptz not null,
  primary key (company_id, id)
);
create index invitation_recipient on invitation (company_id, recipient, due_at desc);
create index invitation_due on invitation (company_id, due_at desc);
grant select, insert, delete on invitation to vidimus_app;
alter table invitation enable row level security;
alter table invitation force row level security;
create policy tenant on invitation
  using (company_id = nullif(current_setting('app.company_id', true), '')::uuid)
  with check (company_id = nullif(current_setting('app.company_id', true), '')::uuid);
grant select (company_id), delete on invitation to vidimus_resolver;

-- Whether the installation serves a verified domain that is not of a developer's machine.
create function has_own_domain() returns boolean
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select exists (
    select from public.domain
    where verified_at is not null and host <> 'localhost' and host not like '%.localhost'
  )
$$;
alter function has_own_domain() owner to vidimus_resolver;
revoke all on function has_own_domain() from public;
grant execute on function has_own_domain() to vidimus_app;

-- Strangers who sign up join the default group, so it allows no category that is not public. The lock on
-- the company makes two transactions that would break the rule together wait for each other.
create function keep_default_group_public() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  perform from public.company where id = new.company_id for no key update;
  if exists (select from public.domain where company_id = new.company_id and public)
    and exists (
      select from public."group" g
      join public.group_category gc on gc.company_id = g.company_id and gc.group_id = g.id
      join public.category c on c.company_id = gc.company_id and c.id = gc.category_id
      where g.company_id = new.company_id and g.is_default and c.visibility <> 'public'
    )
  then
    raise check_violation using
      constraint = 'default_group_public',
      message = 'the default group of a company with public sign-up allows public categories only';
  end if;
  return null;
end
$$;
revoke all on function keep_default_group_public() from public;
create trigger keep_default_group_public after insert on group_category
  for each row execute function keep_default_group_public();
create trigger keep_default_group_public after update of visibility on category
  for each row when (new.visibility <> 'public') execute function keep_default_group_public();
create trigger keep_default_group_public after update of is_default on "group"
  for each row when (new.is_default) execute function keep_default_group_public();
create trigger keep_default_group_public after insert or update of public on domain
  for each row when (new.public) execute function keep_default_group_public();
