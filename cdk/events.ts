import { EventBus, type IEventBus } from "aws-cdk-lib/aws-events";
import type { NodejsFunction } from "aws-cdk-lib/aws-lambda-nodejs";
import type { Construct } from "constructs";
import { envNames } from "../lib/aws/names.ts";

/**
 * Lets these functions tell on the bus what happens to runs: all that tick. A bus is named by its ARN, as one of another account has a
 * name too, and by that alone would be looked for in this account, where nothing would say that it is not there. Gives the bus: the one that
 * was handed in, one of the construct's own, or none.
 */
export function announceOn(
  scope: Construct,
  events: EventBus | IEventBus | boolean | undefined,
  tickers: readonly NodejsFunction[],
): EventBus | IEventBus | undefined {
  if (events === undefined || events === false) return undefined;
  const bus = events === true ? new EventBus(scope, "Events", { description: "What happens to runs." }) : events;
  for (const fn of tickers) {
    fn.addEnvironment(envNames.eventBus, bus.eventBusArn);
    bus.grantPutEventsTo(fn);
  }
  return bus;
}
