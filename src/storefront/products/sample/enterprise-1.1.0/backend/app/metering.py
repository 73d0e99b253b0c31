"""Usage-based billing: every use is a row, written once by its idempotency key; an invoice is a sum over a month."""

from decimal import Decimal

from .database import connect

PRICES = {"tokens": Decimal("0.000002"), "documents": Decimal("0.01")}

with connect() as connection:
    connection.execute(
        "create table if not exists usage (key text primary key, user_id integer not null, metric text not null,"
        " quantity integer not null, used_at text not null default current_timestamp)"
    )
    connection.execute("create index if not exists usage_by_user on usage (user_id, used_at)")


def record(key: str, user_id: int, metric: str, quantity: int) -> None:
    """`key` names the use itself (a request id): a retry of the same use is not billed again."""
    if metric not in PRICES or quantity < 0:
        raise ValueError("unknown metric or negative quantity")
    with connect() as connection:
        connection.execute(
            "insert into usage (key, user_id, metric, quantity) values (?, ?, ?, ?) on conflict do nothing",
            (key, user_id, metric, quantity),
        )


def invoice(user_id: int, month: str) -> dict[str, Decimal]:
    """What `user_id` owes for a month like 2026-03, by metric and in total."""
    with connect() as connection:
        rows = connection.execute(
            "select metric, sum(quantity) as quantity from usage where user_id = ? and substr(used_at, 1, 7) = ?"
            " group by metric",
            (user_id, month),
        ).fetchall()
    lines = {row["metric"]: PRICES[row["metric"]] * row["quantity"] for row in rows}
    return {**lines, "total": sum(lines.values(), Decimal(0))}
