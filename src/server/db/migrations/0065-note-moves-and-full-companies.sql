-- An import can also fail because the company would have more people than it may have.
alter table import drop constraint import_failure_check;
alter table import add constraint import_failure_check
  check (failure in ('changed_meanwhile', 'too_many_people', 'interrupted'));

-- Processes remember whose a host is until it changes, so a move to another company is a change too.
create or replace function note_host_change() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  former text;
  present text;
begin
  if tg_op <> 'INSERT' and old.verified_at is not null then former := old.host; end if;
  if tg_op <> 'DELETE' and new.verified_at is not null then present := new.host; end if;
  if former is not distinct from present
     and (tg_op <> 'UPDATE' or old.company_id = new.company_id) then return null; end if;
  insert into public.host_change (host)
  select distinct host from unnest(array[former, present]) as changed (host) where host is not null;
  -- the index needs a time that stays the same while a statement runs
  delete from public.host_change where ctid in (
    select ctid from public.host_change where changed_at < statement_timestamp() - interval '5 minutes'
     order by changed_at limit 10 for update skip locked
  );
  return null;
end
$$;
drop trigger host_change on domain;
create trigger host_change after insert or delete or update of host, verified_at, company_id on domain
  for each row execute function note_host_change();
