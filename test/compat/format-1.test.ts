import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { attemptFrom, outcomeFields } from "../../lib/core/attempt-format.ts";
import { envelopeFrom, envelopeText } from "../../lib/core/envelope.ts";
import { definitionKey, duePartition, partitionOf, runsPartition, sk } from "../../lib/core/keys.ts";
import { commandText, mailboxFrom, signalText } from "../../lib/core/mail-format.ts";
import { decodeRun, encodeRun } from "../../lib/core/row-format.ts";
import { readTiny, writeTiny } from "../../lib/core/row-tiny.ts";
import { fromJson, type Golden, toJson } from "./stored.ts";

// Written once, by the first release. Whatever is mended here is mended in the reader, never in the file: these bytes are in tables.
const golden = fromJson(
  JSON.parse(readFileSync(new URL("./format-1.json", import.meta.url), "utf8")),
) as unknown as Golden;

const meaning = (value: unknown) => fromJson(toJson(value));

describe("records of format 1", () => {
  test.each(golden.rows.map((each) => [each.name, each] as const))("the row of %s", (_, { pk, row, run }) => {
    expect(meaning(decodeRun({ pk }, row))).toEqual(run);
    // an adjacent version writes what this one reads
    expect(encodeRun(decodeRun({ pk }, row))).toEqual(row);
  });

  test("pages of outputs", () => {
    for (const { createdAtMs, page, outputs } of golden.tiny) {
      expect(readTiny(page, createdAtMs)).toEqual(outputs);
      expect(writeTiny({ tiny: outputs, createdAtMs })).toEqual(page);
    }
  });

  test.each(golden.attempts.map((each) => [String(each.record["v"]), each] as const))("an attempt: %s", (_, each) => {
    const { record, attempt } = each;
    const read = attemptFrom({ node: 3, index: 4, attempt: 2 }, record);
    expect(meaning(read)).toEqual(attempt);
    if (read.outcome) expect(record).toMatchObject(outcomeFields(read.outcome));
  });

  test("entries of the mailbox, and the mailbox itself", () => {
    for (const { text, signal } of golden.signals) expect(signalText(signal as never)).toBe(text);
    for (const { text, command } of golden.commands) expect(commandText(command as never)).toBe(text);
    for (const { record, mailbox } of golden.mailboxes) {
      expect(meaning(mailboxFrom(record))).toEqual(mailbox);
      expect(mailboxFrom(record).signals).toEqual(golden.signals.map((each) => each.signal));
      expect(mailboxFrom(record).commands).toEqual(golden.commands.map((each) => each.command));
    }
  });

  test.each(golden.envelopes.map((each) => [each.text, each] as const))("the envelope %s", (text, { envelope }) => {
    expect(envelopeFrom(text)).toEqual(envelope);
    const again = envelopeFrom(envelopeText(envelopeFrom(text)));
    expect(again).toEqual(envelope);
    if (text.includes('"format"')) expect(envelopeText(envelopeFrom(text))).toBe(text);
  });

  test("keys and partitions of the indexes", () => {
    const [uid, token] = ["0123456789abcdef", "abababababababab"];
    expect({
      pk: partitionOf("acme", "order-1"),
      state: sk.state,
      mail: sk.mail(uid),
      strikes: sk.strikes(uid),
      attempt: sk.attempt(uid, 3, 4, 2),
      input: sk.input(uid),
      output: sk.output(uid, 3, 4, token),
      page: sk.page(uid, 1),
      signal: sk.signal(uid, token),
      items: sk.items(uid, 3, 4, token),
      definition: definitionKey("00112233445566778899aabbccddeeff").pk,
      due: duePartition.live(uid),
      parked: duePartition.parked(uid),
      endedBadly: duePartition.endedBadly("acme", uid),
      runs: runsPartition("acme", "order", uid),
    }).toEqual(golden.keys);
  });
});
