-- The process that works on an import. When it has ended, another one need not wait for the end of
-- the lease.
alter table import add column leased_by text;
