import { expect, test } from "./fixtures/test";
import { TimesPanel } from "./fixtures/timesPanel";

test("what the kernel counts adds up, for all threads, a role, and the process", async ({
  watching,
}) => {
  const { page } = watching;
  const panel = new TimesPanel(page);
  await expect.poll(() => panel.allShares()).toBeGreaterThan(99);
  await expect.poll(() => panel.allShares()).toBeLessThan(101);
  await panel.role(/^burner/).click();
  await expect(panel.root.locator("[data-scope=role]")).toContainText("of burner");
  // It burns 5 ms and sleeps 5 ms; on a busy machine it waits for a CPU instead.
  const awake = () => panel.sharesOf(["cpu", "queue", "on_cpu", "preempted", "woken"]);
  await expect.poll(awake).toBeGreaterThan(40);
  await panel.role(/^sleeper-#/).click();
  await expect.poll(awake).toBeLessThan(5);

  await page.locator("[data-quality]").click();
  const quality = page.getByRole("region", { name: "Data quality" });
  await expect(quality).toContainText(/process [±+−] <?\d[.\d]* % of/);
});
