-- An import can also fail because the company would have more people than it may have.
alter table import drop constraint import_failure_check;
alter table import add constraint import_failure_check
  check (failure in ('changed_meanwhile', 'too_many_people', 'interrupted'));
