import { openDynamodb } from "./servers.ts";
import { storeContract } from "./store.contract.ts";

storeContract("DynamoDB (dynalite)", () => openDynamodb());
