-- What the rows of an import take up in the database, with the reasons that a check may write. A company
-- may keep a limited sum of it. Rows of earlier releases count with a usual size.
alter table import_row add column kept_bytes integer not null default 500;
alter table import add column kept_bytes bigint not null default 0;
alter table import no force row level security;
update import set kept_bytes = stored_count * 500;
alter table import force row level security;

-- A check judges all rows again, and rewrites only those whose verdict has changed. Every other row would
-- be one more copy of it on the disk.
create function leave_row() returns trigger language plpgsql as $$ begin return null; end $$;
create trigger import_row_same before update of reasons on import_row
  for each row when (old.* is not distinct from new.*) execute function leave_row();
