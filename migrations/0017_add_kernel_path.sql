-- Kernels whose regimes and axes have a path of their own, and what derived rows were made with.
create table kernel_path (kernel_type varchar not null, path varchar not null);
comment on table kernel_path is 'Paths on which a kernel is placed whether an operator maps it or a composite names it [source: profiling RFC phases 1 and 2]';
comment on column kernel_path.kernel_type is 'Kernel [text]';
comment on column kernel_path.path is 'Path, a file of sql/paths [text]';

alter table point add column is_conflicting boolean default false;
comment on column point.is_conflicting is 'Whether measurements of different signatures gave the point different latencies, so that it may hide different semantics [boolean]';

create table derivation (sha256 varchar not null);
comment on table derivation is 'Which definitions the derived tables were made with, one row [source: sql/paths, sql/ingest]';
comment on column derivation.sha256 is 'SHA-256 of the SQL that defines keys, regimes and points [hex]';
