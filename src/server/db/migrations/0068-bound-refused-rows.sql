alter table register_import
  -- that its refused rows take
  add column refused_bytes bigint not null default 0,
  -- null where nobody named the file: the last part of an address may be as secret as the rest
  alter column file_name drop not null,
  -- the states that were never written are gone
  drop constraint register_import_state_check,
  add constraint register_import_state_check
    check (state in ('uploading', 'reading', 'checked', 'done', 'undone', 'failed'));
drop index register_import_work;
create index register_import_work on register_import (company_id, requested_at, id)
  where state = 'reading';
