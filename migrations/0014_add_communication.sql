-- Collectives: message size, group and topology tier.
alter table measurement add column message_bytes bigint;
alter table measurement add column num_devices bigint;
alter table measurement add column topology_tier bigint;
alter table measurement add column communication_dtype varchar;
alter table measurement add column bandwidth_gbps double;
comment on column measurement.message_bytes is 'CSV column message_bytes [bytes]';
comment on column measurement.num_devices is 'CSV column num_devices [count]';
comment on column measurement.topology_tier is 'CSV column topology_tier, 0 = outermost [tier]';
comment on column measurement.communication_dtype is 'CSV column dtype [text]';
comment on column measurement.bandwidth_gbps is 'CSV column bandwidth_gbps [GB/s]';
insert into csv_column values
    ('message_bytes', 'measurement', 'message_bytes'),
    ('num_devices', 'measurement', 'num_devices'),
    ('topology_tier', 'measurement', 'topology_tier'),
    ('dtype', 'measurement', 'communication_dtype'),
    ('bandwidth_gbps', 'measurement', 'bandwidth_gbps');
