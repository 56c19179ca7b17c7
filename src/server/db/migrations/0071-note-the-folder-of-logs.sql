-- When the folder of the published logs was made, as its file system tells, so that a copy of an
-- installation is found before it signs. Null until a log was signed, and where the system cannot tell.
alter table installation add column log_folder_made_at timestamptz;
alter table log_state
  drop constraint log_state_state_check,
  add constraint log_state_state_check
    check (state in ('running', 'behind', 'forked', 'no_checkpoint', 'copied', 'retired'));
