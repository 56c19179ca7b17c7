-- The application moves the head of an audit log on by one entry at a time. So whoever has its
-- rights can neither count back over entries nor begin a log anew.
create function step_audit_head() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp
as $$
begin
  -- an insert has no old row
  if new.seq <> coalesce(old.seq, 0) + 1 then
    raise exception 'the head of an audit log moves on by one entry'
      using errcode = 'insufficient_privilege';
  end if;
  return new;
end $$;
create trigger step before insert or update on audit_head
  for each row when (current_user = 'vidimus_app') execute function step_audit_head();
