-- Expert parallelism of fused MoE kernels (DispatchFFNCombine).
alter table measurement add column ep_size integer;
comment on column measurement.ep_size is 'CSV column EP Size: ranks in the expert-parallel group [count]';
insert into csv_column values
    ('EP Size', 'measurement', 'ep_size');
