import { describe, expect, it } from "vitest";
import { haltContext } from "../../cdk/halt.ts";
import { all, createApp, synthesized } from "./synthesis.ts";

const groups = { default: {}, mail: {} };
const going = synthesized({ groups });
const halted = (value: unknown) => synthesized({ groups }, createApp({ [haltContext]: value }));

describe("halting", () => {
  it.each(["true", true])("turns every mapping and the schedule off, with the context %j", (value) => {
    const template = halted(value);
    const mappings = Object.values(all(template, "AWS::Lambda::EventSourceMapping"));
    expect(mappings).toHaveLength(5);
    for (const { Enabled: isEnabled } of mappings) expect(isEnabled).toBe(false);
    const [schedule] = Object.values(all(template, "AWS::Scheduler::Schedule"));
    expect(schedule.State).toBe("DISABLED");
  });

  it("changes nothing else, so that a deploy without it is all the way back", () => {
    const text = JSON.stringify(halted("true").toJSON());
    const back = text
      .replaceAll('"Enabled":false', '"Enabled":true')
      .replaceAll('"State":"DISABLED"', '"State":"ENABLED"');
    expect(back).toBe(JSON.stringify(going.toJSON()));
    expect(text).not.toBe(back);
  });

  it.each(["false", false])("is not meant by %j", (value) => {
    expect(halted(value).toJSON()).toEqual(going.toJSON());
  });

  it("refuses what is neither", () => {
    expect(() => halted("yes")).toThrow('The context tickwright:halt is "yes": give true to halt, or leave it out.');
  });

  it("is told by the alarm on silence", () => {
    const [silent] = Object.values(all(going, "AWS::CloudWatch::Alarm")).filter(
      ({ MetricName: name }) => name === "watchdog-sweeps",
    );
    expect(silent.AlarmDescription).toContain("While the installation is halted this is meant.");
  });
});
