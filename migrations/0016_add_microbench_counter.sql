-- Hardware counters of the microbenchmark (62-column layout).
alter table hardware_counter add column microbench_aicore_time_us double;
alter table hardware_counter add column microbench_aic_total_cycles double;
alter table hardware_counter add column microbench_aic_mac_time_us double;
alter table hardware_counter add column microbench_aic_mac_ratio double;
alter table hardware_counter add column microbench_aic_scalar_time_us double;
alter table hardware_counter add column microbench_aic_scalar_ratio double;
alter table hardware_counter add column microbench_aic_mte1_time_us double;
alter table hardware_counter add column microbench_aic_mte1_ratio double;
alter table hardware_counter add column microbench_aic_mte2_time_us double;
alter table hardware_counter add column microbench_aic_mte2_ratio double;
alter table hardware_counter add column microbench_aic_fixpipe_time_us double;
alter table hardware_counter add column microbench_aic_fixpipe_ratio double;
alter table hardware_counter add column microbench_aic_icache_miss_rate double;
alter table hardware_counter add column microbench_aiv_time_us double;
alter table hardware_counter add column microbench_aiv_total_cycles double;
alter table hardware_counter add column microbench_aiv_vec_time_us double;
alter table hardware_counter add column microbench_aiv_vec_ratio double;
alter table hardware_counter add column microbench_aiv_scalar_time_us double;
alter table hardware_counter add column microbench_aiv_scalar_ratio double;
alter table hardware_counter add column microbench_aiv_mte2_time_us double;
alter table hardware_counter add column microbench_aiv_mte2_ratio double;
alter table hardware_counter add column microbench_aiv_mte3_time_us double;
alter table hardware_counter add column microbench_aiv_mte3_ratio double;
alter table hardware_counter add column microbench_aiv_icache_miss_rate double;
alter table hardware_counter add column microbench_cube_utilization_percent double;
comment on column hardware_counter.microbench_aicore_time_us is 'CSV column MicroBench aicore_time(us) [us]';
comment on column hardware_counter.microbench_aic_total_cycles is 'CSV column MicroBench aic_total_cycles [cycles]';
comment on column hardware_counter.microbench_aic_mac_time_us is 'CSV column MicroBench aic_mac_time(us) [us]';
comment on column hardware_counter.microbench_aic_mac_ratio is 'CSV column MicroBench aic_mac_ratio [ratio 0..1]';
comment on column hardware_counter.microbench_aic_scalar_time_us is 'CSV column MicroBench aic_scalar_time(us) [us]';
comment on column hardware_counter.microbench_aic_scalar_ratio is 'CSV column MicroBench aic_scalar_ratio [ratio 0..1]';
comment on column hardware_counter.microbench_aic_mte1_time_us is 'CSV column MicroBench aic_mte1_time(us) [us]';
comment on column hardware_counter.microbench_aic_mte1_ratio is 'CSV column MicroBench aic_mte1_ratio [ratio 0..1]';
comment on column hardware_counter.microbench_aic_mte2_time_us is 'CSV column MicroBench aic_mte2_time(us) [us]';
comment on column hardware_counter.microbench_aic_mte2_ratio is 'CSV column MicroBench aic_mte2_ratio [ratio 0..1]';
comment on column hardware_counter.microbench_aic_fixpipe_time_us is 'CSV column MicroBench aic_fixpipe_time(us) [us]';
comment on column hardware_counter.microbench_aic_fixpipe_ratio is 'CSV column MicroBench aic_fixpipe_ratio [ratio 0..1]';
comment on column hardware_counter.microbench_aic_icache_miss_rate is 'CSV column MicroBench aic_icache_miss_rate [ratio 0..1]';
comment on column hardware_counter.microbench_aiv_time_us is 'CSV column MicroBench aiv_time(us) [us]';
comment on column hardware_counter.microbench_aiv_total_cycles is 'CSV column MicroBench aiv_total_cycles [cycles]';
comment on column hardware_counter.microbench_aiv_vec_time_us is 'CSV column MicroBench aiv_vec_time(us) [us]';
comment on column hardware_counter.microbench_aiv_vec_ratio is 'CSV column MicroBench aiv_vec_ratio [ratio 0..1]';
comment on column hardware_counter.microbench_aiv_scalar_time_us is 'CSV column MicroBench aiv_scalar_time(us) [us]';
comment on column hardware_counter.microbench_aiv_scalar_ratio is 'CSV column MicroBench aiv_scalar_ratio [ratio 0..1]';
comment on column hardware_counter.microbench_aiv_mte2_time_us is 'CSV column MicroBench aiv_mte2_time(us) [us]';
comment on column hardware_counter.microbench_aiv_mte2_ratio is 'CSV column MicroBench aiv_mte2_ratio [ratio 0..1]';
comment on column hardware_counter.microbench_aiv_mte3_time_us is 'CSV column MicroBench aiv_mte3_time(us) [us]';
comment on column hardware_counter.microbench_aiv_mte3_ratio is 'CSV column MicroBench aiv_mte3_ratio [ratio 0..1]';
comment on column hardware_counter.microbench_aiv_icache_miss_rate is 'CSV column MicroBench aiv_icache_miss_rate [ratio 0..1]';
comment on column hardware_counter.microbench_cube_utilization_percent is 'CSV column MicroBench cube_utilization(%) [percent]';
insert into csv_column values
    ('MicroBench aicore_time(us)', 'hardware_counter', 'microbench_aicore_time_us'), ('MicroBench aic_total_cycles', 'hardware_counter', 'microbench_aic_total_cycles'),
    ('MicroBench aic_mac_time(us)', 'hardware_counter', 'microbench_aic_mac_time_us'), ('MicroBench aic_mac_ratio', 'hardware_counter', 'microbench_aic_mac_ratio'),
    ('MicroBench aic_scalar_time(us)', 'hardware_counter', 'microbench_aic_scalar_time_us'), ('MicroBench aic_scalar_ratio', 'hardware_counter', 'microbench_aic_scalar_ratio'),
    ('MicroBench aic_mte1_time(us)', 'hardware_counter', 'microbench_aic_mte1_time_us'), ('MicroBench aic_mte1_ratio', 'hardware_counter', 'microbench_aic_mte1_ratio'),
    ('MicroBench aic_mte2_time(us)', 'hardware_counter', 'microbench_aic_mte2_time_us'), ('MicroBench aic_mte2_ratio', 'hardware_counter', 'microbench_aic_mte2_ratio'),
    ('MicroBench aic_fixpipe_time(us)', 'hardware_counter', 'microbench_aic_fixpipe_time_us'), ('MicroBench aic_fixpipe_ratio', 'hardware_counter', 'microbench_aic_fixpipe_ratio'),
    ('MicroBench aic_icache_miss_rate', 'hardware_counter', 'microbench_aic_icache_miss_rate'), ('MicroBench aiv_time(us)', 'hardware_counter', 'microbench_aiv_time_us'),
    ('MicroBench aiv_total_cycles', 'hardware_counter', 'microbench_aiv_total_cycles'), ('MicroBench aiv_vec_time(us)', 'hardware_counter', 'microbench_aiv_vec_time_us'),
    ('MicroBench aiv_vec_ratio', 'hardware_counter', 'microbench_aiv_vec_ratio'), ('MicroBench aiv_scalar_time(us)', 'hardware_counter', 'microbench_aiv_scalar_time_us'),
    ('MicroBench aiv_scalar_ratio', 'hardware_counter', 'microbench_aiv_scalar_ratio'), ('MicroBench aiv_mte2_time(us)', 'hardware_counter', 'microbench_aiv_mte2_time_us'),
    ('MicroBench aiv_mte2_ratio', 'hardware_counter', 'microbench_aiv_mte2_ratio'), ('MicroBench aiv_mte3_time(us)', 'hardware_counter', 'microbench_aiv_mte3_time_us'),
    ('MicroBench aiv_mte3_ratio', 'hardware_counter', 'microbench_aiv_mte3_ratio'), ('MicroBench aiv_icache_miss_rate', 'hardware_counter', 'microbench_aiv_icache_miss_rate'),
    ('MicroBench cube_utilization(%)', 'hardware_counter', 'microbench_cube_utilization_percent');
