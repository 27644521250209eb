-- Hardware counters of a measurement, profiling means.
create table hardware_counter (
    row_id bigint not null,
    profiling_aicore_time_us double, profiling_aic_total_cycles double, profiling_aic_mac_time_us double,
    profiling_aic_mac_ratio double, profiling_aic_scalar_time_us double, profiling_aic_scalar_ratio double,
    profiling_aic_mte1_time_us double, profiling_aic_mte1_ratio double, profiling_aic_mte2_time_us double,
    profiling_aic_mte2_ratio double, profiling_aic_fixpipe_time_us double, profiling_aic_fixpipe_ratio double,
    profiling_aic_icache_miss_rate double, profiling_aiv_time_us double, profiling_aiv_total_cycles double,
    profiling_aiv_vec_time_us double, profiling_aiv_vec_ratio double, profiling_aiv_scalar_time_us double,
    profiling_aiv_scalar_ratio double, profiling_aiv_mte2_time_us double, profiling_aiv_mte2_ratio double,
    profiling_aiv_mte3_time_us double, profiling_aiv_mte3_ratio double, profiling_aiv_icache_miss_rate double,
    profiling_cube_utilization_percent double
);
comment on table hardware_counter is 'Hardware counters of the measurements that have any [source: counter columns of the kernel CSV]';
comment on column hardware_counter.row_id is 'Measurement [measurement.row_id]';
comment on column hardware_counter.profiling_aicore_time_us is 'CSV column Profiling Average aicore_time(us) or Average aicore_time(us) of legacy files [us]';
comment on column hardware_counter.profiling_aic_total_cycles is 'CSV column Profiling Average aic_total_cycles or Average aic_total_cycles of legacy files [cycles]';
comment on column hardware_counter.profiling_aic_mac_time_us is 'CSV column Profiling Average aic_mac_time(us) or Average aic_mac_time(us) of legacy files [us]';
comment on column hardware_counter.profiling_aic_mac_ratio is 'CSV column Profiling Average aic_mac_ratio or Average aic_mac_ratio of legacy files [ratio 0..1]';
comment on column hardware_counter.profiling_aic_scalar_time_us is 'CSV column Profiling Average aic_scalar_time(us) or Average aic_scalar_time(us) of legacy files [us]';
comment on column hardware_counter.profiling_aic_scalar_ratio is 'CSV column Profiling Average aic_scalar_ratio or Average aic_scalar_ratio of legacy files [ratio 0..1]';
comment on column hardware_counter.profiling_aic_mte1_time_us is 'CSV column Profiling Average aic_mte1_time(us) or Average aic_mte1_time(us) of legacy files [us]';
comment on column hardware_counter.profiling_aic_mte1_ratio is 'CSV column Profiling Average aic_mte1_ratio or Average aic_mte1_ratio of legacy files [ratio 0..1]';
comment on column hardware_counter.profiling_aic_mte2_time_us is 'CSV column Profiling Average aic_mte2_time(us) or Average aic_mte2_time(us) of legacy files [us]';
comment on column hardware_counter.profiling_aic_mte2_ratio is 'CSV column Profiling Average aic_mte2_ratio or Average aic_mte2_ratio of legacy files [ratio 0..1]';
comment on column hardware_counter.profiling_aic_fixpipe_time_us is 'CSV column Profiling Average aic_fixpipe_time(us) or Average aic_fixpipe_time(us) of legacy files [us]';
comment on column hardware_counter.profiling_aic_fixpipe_ratio is 'CSV column Profiling Average aic_fixpipe_ratio or Average aic_fixpipe_ratio of legacy files [ratio 0..1]';
comment on column hardware_counter.profiling_aic_icache_miss_rate is 'CSV column Profiling Average aic_icache_miss_rate or Average aic_icache_miss_rate of legacy files [ratio 0..1]';
comment on column hardware_counter.profiling_aiv_time_us is 'CSV column Profiling Average aiv_time(us) or Average aiv_time(us) of legacy files [us]';
comment on column hardware_counter.profiling_aiv_total_cycles is 'CSV column Profiling Average aiv_total_cycles or Average aiv_total_cycles of legacy files [cycles]';
comment on column hardware_counter.profiling_aiv_vec_time_us is 'CSV column Profiling Average aiv_vec_time(us) or Average aiv_vec_time(us) of legacy files [us]';
comment on column hardware_counter.profiling_aiv_vec_ratio is 'CSV column Profiling Average aiv_vec_ratio or Average aiv_vec_ratio of legacy files [ratio 0..1]';
comment on column hardware_counter.profiling_aiv_scalar_time_us is 'CSV column Profiling Average aiv_scalar_time(us) or Average aiv_scalar_time(us) of legacy files [us]';
comment on column hardware_counter.profiling_aiv_scalar_ratio is 'CSV column Profiling Average aiv_scalar_ratio or Average aiv_scalar_ratio of legacy files [ratio 0..1]';
comment on column hardware_counter.profiling_aiv_mte2_time_us is 'CSV column Profiling Average aiv_mte2_time(us) or Average aiv_mte2_time(us) of legacy files [us]';
comment on column hardware_counter.profiling_aiv_mte2_ratio is 'CSV column Profiling Average aiv_mte2_ratio or Average aiv_mte2_ratio of legacy files [ratio 0..1]';
comment on column hardware_counter.profiling_aiv_mte3_time_us is 'CSV column Profiling Average aiv_mte3_time(us) or Average aiv_mte3_time(us) of legacy files [us]';
comment on column hardware_counter.profiling_aiv_mte3_ratio is 'CSV column Profiling Average aiv_mte3_ratio or Average aiv_mte3_ratio of legacy files [ratio 0..1]';
comment on column hardware_counter.profiling_aiv_icache_miss_rate is 'CSV column Profiling Average aiv_icache_miss_rate or Average aiv_icache_miss_rate of legacy files [ratio 0..1]';
comment on column hardware_counter.profiling_cube_utilization_percent is 'CSV column Profiling Average cube_utilization(%) or Average cube_utilization(%) of legacy files [percent]';
insert into csv_column values
    ('Profiling Average aicore_time(us)', 'hardware_counter', 'profiling_aicore_time_us'), ('Average aicore_time(us)', 'hardware_counter', 'profiling_aicore_time_us'),
    ('Profiling Average aic_total_cycles', 'hardware_counter', 'profiling_aic_total_cycles'), ('Average aic_total_cycles', 'hardware_counter', 'profiling_aic_total_cycles'),
    ('Profiling Average aic_mac_time(us)', 'hardware_counter', 'profiling_aic_mac_time_us'), ('Average aic_mac_time(us)', 'hardware_counter', 'profiling_aic_mac_time_us'),
    ('Profiling Average aic_mac_ratio', 'hardware_counter', 'profiling_aic_mac_ratio'), ('Average aic_mac_ratio', 'hardware_counter', 'profiling_aic_mac_ratio'),
    ('Profiling Average aic_scalar_time(us)', 'hardware_counter', 'profiling_aic_scalar_time_us'), ('Average aic_scalar_time(us)', 'hardware_counter', 'profiling_aic_scalar_time_us'),
    ('Profiling Average aic_scalar_ratio', 'hardware_counter', 'profiling_aic_scalar_ratio'), ('Average aic_scalar_ratio', 'hardware_counter', 'profiling_aic_scalar_ratio'),
    ('Profiling Average aic_mte1_time(us)', 'hardware_counter', 'profiling_aic_mte1_time_us'), ('Average aic_mte1_time(us)', 'hardware_counter', 'profiling_aic_mte1_time_us'),
    ('Profiling Average aic_mte1_ratio', 'hardware_counter', 'profiling_aic_mte1_ratio'), ('Average aic_mte1_ratio', 'hardware_counter', 'profiling_aic_mte1_ratio'),
    ('Profiling Average aic_mte2_time(us)', 'hardware_counter', 'profiling_aic_mte2_time_us'), ('Average aic_mte2_time(us)', 'hardware_counter', 'profiling_aic_mte2_time_us'),
    ('Profiling Average aic_mte2_ratio', 'hardware_counter', 'profiling_aic_mte2_ratio'), ('Average aic_mte2_ratio', 'hardware_counter', 'profiling_aic_mte2_ratio'),
    ('Profiling Average aic_fixpipe_time(us)', 'hardware_counter', 'profiling_aic_fixpipe_time_us'), ('Average aic_fixpipe_time(us)', 'hardware_counter', 'profiling_aic_fixpipe_time_us'),
    ('Profiling Average aic_fixpipe_ratio', 'hardware_counter', 'profiling_aic_fixpipe_ratio'), ('Average aic_fixpipe_ratio', 'hardware_counter', 'profiling_aic_fixpipe_ratio'),
    ('Profiling Average aic_icache_miss_rate', 'hardware_counter', 'profiling_aic_icache_miss_rate'), ('Average aic_icache_miss_rate', 'hardware_counter', 'profiling_aic_icache_miss_rate'),
    ('Profiling Average aiv_time(us)', 'hardware_counter', 'profiling_aiv_time_us'), ('Average aiv_time(us)', 'hardware_counter', 'profiling_aiv_time_us'),
    ('Profiling Average aiv_total_cycles', 'hardware_counter', 'profiling_aiv_total_cycles'), ('Average aiv_total_cycles', 'hardware_counter', 'profiling_aiv_total_cycles'),
    ('Profiling Average aiv_vec_time(us)', 'hardware_counter', 'profiling_aiv_vec_time_us'), ('Average aiv_vec_time(us)', 'hardware_counter', 'profiling_aiv_vec_time_us'),
    ('Profiling Average aiv_vec_ratio', 'hardware_counter', 'profiling_aiv_vec_ratio'), ('Average aiv_vec_ratio', 'hardware_counter', 'profiling_aiv_vec_ratio'),
    ('Profiling Average aiv_scalar_time(us)', 'hardware_counter', 'profiling_aiv_scalar_time_us'), ('Average aiv_scalar_time(us)', 'hardware_counter', 'profiling_aiv_scalar_time_us'),
    ('Profiling Average aiv_scalar_ratio', 'hardware_counter', 'profiling_aiv_scalar_ratio'), ('Average aiv_scalar_ratio', 'hardware_counter', 'profiling_aiv_scalar_ratio'),
    ('Profiling Average aiv_mte2_time(us)', 'hardware_counter', 'profiling_aiv_mte2_time_us'), ('Average aiv_mte2_time(us)', 'hardware_counter', 'profiling_aiv_mte2_time_us'),
    ('Profiling Average aiv_mte2_ratio', 'hardware_counter', 'profiling_aiv_mte2_ratio'), ('Average aiv_mte2_ratio', 'hardware_counter', 'profiling_aiv_mte2_ratio'),
    ('Profiling Average aiv_mte3_time(us)', 'hardware_counter', 'profiling_aiv_mte3_time_us'), ('Average aiv_mte3_time(us)', 'hardware_counter', 'profiling_aiv_mte3_time_us'),
    ('Profiling Average aiv_mte3_ratio', 'hardware_counter', 'profiling_aiv_mte3_ratio'), ('Average aiv_mte3_ratio', 'hardware_counter', 'profiling_aiv_mte3_ratio'),
    ('Profiling Average aiv_icache_miss_rate', 'hardware_counter', 'profiling_aiv_icache_miss_rate'), ('Average aiv_icache_miss_rate', 'hardware_counter', 'profiling_aiv_icache_miss_rate'),
    ('Profiling Average cube_utilization(%)', 'hardware_counter', 'profiling_cube_utilization_percent'), ('Average cube_utilization(%)', 'hardware_counter', 'profiling_cube_utilization_percent');
