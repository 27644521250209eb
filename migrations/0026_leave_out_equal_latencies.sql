-- Most keys have one measurement: what equals its mean is not stored again, and lookups read fewer blocks.
alter table exact_key alter column latency_median_us drop not null;
alter table exact_key alter column latency_min_us drop not null;
alter table exact_key alter column latency_first_us drop not null;
alter table exact_key alter column latency_max_us drop not null;
comment on column exact_key.latency_median_us is 'Median of those measurements, null when it is the mean [us]';
comment on column exact_key.latency_min_us is 'Smallest of those measurements, null when it is the mean [us]';
comment on column exact_key.latency_first_us is 'First of those measurements in file order, null when it is the mean [us]';
comment on column exact_key.latency_max_us is 'Largest of those measurements, null when it is the mean [us]';
