import type { Locator, Page } from "@playwright/test";
import { GO } from "./fixtures/build";
import { Steered } from "./fixtures/programs";
import { expect, test as shared } from "./fixtures/test";

/** A page that is attached to a steered program, with its Steer drawer. */
class SteerPage {
  readonly page: Page;
  readonly drawer: Locator;

  constructor(page: Page) {
    this.page = page;
    this.drawer = page.getByRole("dialog", { name: "Steer" });
  }

  async open(url: string): Promise<void> {
    await this.page.goto(url);
    await expect(this.page.locator("[data-chart=cpu]")).toHaveAttribute("data-state", "ok");
    await this.page.keyboard.press("s");
    await expect(this.drawer).toBeVisible();
  }

  policy(name: string): Locator {
    return this.drawer.getByRole("region", { name: "Policy" }).getByRole("button", {
      name,
      exact: true,
    });
  }

  /** Set the interval of a policy to 0.5 s, which shortens the test, and other parameters. */
  async hurry(policy: string, more: Readonly<Record<string, string>> = {}): Promise<void> {
    await this.drawer.locator("details", { hasText: "Parameters" }).evaluate((details) => {
      (details as HTMLDetailsElement).open = true;
    });
    const form = this.drawer.getByRole("form", { name: "Parameters" });
    await form.getByRole("combobox", { name: "of" }).selectOption(policy);
    for (const [name, value] of Object.entries({ interval_s: "0.5", ...more })) {
      await form.getByLabel(name, { exact: true }).fill(value);
    }
  }

  /** Current size in the drawer. */
  async size(): Promise<number> {
    return Number(await this.drawer.locator("[data-size]").textContent());
  }

  get state(): Locator {
    return this.drawer.locator("[data-state-words]");
  }

  fact(name: string): Locator {
    return this.page.locator(`[data-fact="${name}"] dd`);
  }
}

const test = shared.extend<{ readonly steered: Steered; readonly steering: SteerPage }>({
  steered: async ({ playwright: _ }, use) => {
    const program = await Steered.start();
    await use(program);
    await program.kill();
  },
  steering: async ({ page, stack, steered }, use) => {
    const steering = new SteerPage(page);
    await steering.open(stack.signingIn(`/?pid=${steered.pid}&tab=all`));
    await use(steering);
  },
});

test.describe("a program with an agent", () => {
  // CI has a compiler: its absence is a fault there.
  test.skip(GO === null && process.env.CI === undefined, "needs a Go compiler");

  test("one press on bidirectional moves the size, and the timeline tells why", async ({
    steering,
  }) => {
    const { page, drawer } = steering;
    await expect(drawer).toContainText("Not steered");
    await steering.hurry("bidirectional");
    await steering.policy("bidirectional").click();
    await expect(steering.policy("bidirectional")).toHaveAttribute("aria-pressed", "true");
    await expect.poll(() => steering.size()).toBeLessThan(Steered.LARGEST);
    await expect(drawer.locator("[data-bar]").nth(1)).toBeVisible();
    await expect(drawer.locator("[data-current=true]")).toHaveCount(1);
    await expect(drawer.getByRole("region", { name: "Decisions", exact: true })).toContainText(
      `${Steered.LARGEST} → ${Steered.LARGEST - 1}`,
    );

    await expect(steering.fact("Policy")).toHaveText("bidirectional");
    await expect(page.locator("[data-tile=ops]")).toContainText(/\d.* k?\/s/);
    const size = page.locator("[data-chart=gomaxprocs]");
    await size.scrollIntoViewIfNeeded();
    await expect(size).toHaveAttribute("aria-label", /Steered by bidirectional\. \d+ decision/);
    await expect(size).toHaveAttribute("aria-label", /Last change \d → \d: /);
    await expect(page.locator("[data-chart=ops]")).toHaveAttribute("data-state", "ok");
    await expect(page.getByRole("region", { name: "Events", exact: true })).toContainText(
      "bidirectional steers from size 4, between 1 and 4, on operations (agent)",
    );

    // The pointer is near now: there is no decision before the press.
    const tooltip = size.locator(".chart-tooltip");
    await expect(async () => {
      // Panels above may grow meanwhile and move the chart away from the pointer.
      const { width } = (await size.boundingBox()) ?? { width: 0 };
      await size.hover({ position: { x: width - 45, y: 60 } });
      await expect(tooltip).toContainText(/bidirectional: /, { timeout: 2000 });
    }).toPass({ timeout: 120_000 });
  });

  test("a search restarts, and a release gives the original size back", async ({ steering }) => {
    const { drawer } = steering;
    await steering.hurry("linear", { warm_up_s: "0", lowest: "1" });
    await steering.policy("linear").click();
    await expect(steering.state).toHaveText("settled");
    await drawer.getByRole("button", { name: "Restart search" }).click();
    await expect(drawer.getByRole("region", { name: "Decisions", exact: true })).toContainText(
      "search restarted",
    );

    await drawer.getByRole("button", { name: `Release (restore size ${Steered.LARGEST})` }).focus();
    await steering.page.keyboard.press("Enter");
    await expect(drawer).toContainText("Not steered");
    // The pressed button is gone, and the focus is still in the drawer.
    await expect(drawer).toBeFocused();
    await expect(steering.fact("GOMAXPROCS")).toHaveText(String(Steered.LARGEST));
    await expect(steering.fact("Policy")).toHaveText("none");
    await drawer.getByRole("button", { name: "Steer again with linear" }).click();
    await expect(steering.policy("linear")).toHaveAttribute("aria-pressed", "true");
  });
});

test("on a narrow screen the drawer takes all of it, and the focus returns to its button", async ({
  watching,
}) => {
  const { page } = watching;
  const button = page.getByRole("button", { name: "Steer", exact: true });
  const drawer = page.getByRole("dialog", { name: "Steer" });
  await page.setViewportSize({ width: 390, height: 844 });
  await button.focus();
  await page.keyboard.press("s");
  await expect(drawer).toBeVisible();
  await expect(drawer).toContainText("docs/steering.md");
  await expect.poll(async () => (await drawer.boundingBox())?.width).toBe(390);
  await page.keyboard.press("Escape");
  await expect(drawer).toBeHidden();
  await expect(button).toBeFocused();
});
