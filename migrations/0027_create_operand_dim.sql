-- Which dims operands of each file have, so that most targets that match no row need no keys to find that out.
create table operand_dim (
    file_id integer not null,
    slot integer not null,
    place integer not null,
    dim bigint not null,
    is_measured boolean not null
);
comment on table operand_dim is 'Distinct dims above 1 of measured operands, and what padding makes of them; a target with another dim in the same place matches no row of the file unless shapes are folded [source: measurement.operand_shapes]';
comment on column operand_dim.file_id is 'CSV of the rows [source_file.file_id]';
comment on column operand_dim.slot is 'Operand, 1 first [place]';
comment on column operand_dim.place is 'Place of the dim from the end, 1 last; 2 for both of the last two of a weight, which may be transposed [place]';
comment on column operand_dim.dim is 'Size of the dim [elements]';
comment on column operand_dim.is_measured is 'Whether rows have the dim themselves, false when it is only what they are padded to [boolean]';
