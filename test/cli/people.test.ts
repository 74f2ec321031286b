/** `larder-serve people`, with and without a running server. */
import { userInfo } from "node:os"
import { assert, describe, it } from "@effect/vitest"
import { People } from "@larder/serve/people"
import { Effect, Layer } from "effect"
import { layerPeople } from "../people/joined.ts"
import type { Environment } from "../support/programs.ts"
import { consoleIn } from "../support/serve/sqlite-console.ts"
import { useLarderHome } from "./larder.ts"

const { json, larder, ledgerFolder, startServer } = useLarderHome()

const parseToken = (link: string) => link.slice(link.lastIndexOf("/") + 1)

/** Accepts a link as the console does. No other process may have the tables open. */
const accept = (link: string, email: string) =>
  Effect.runPromise(
    People.use((people) => people.accept({ token: parseToken(link), email, password: "lantern oyster gravel" })).pipe(
      Effect.provide(layerPeople.pipe(Layer.provide(consoleIn(ledgerFolder())))),
      Effect.scoped
    )
  )

describe("larder-serve people", () => {
  it("invites, lists and removes people while no server runs", async () => {
    const account = await json(["accounts", "create", "--name", "Ann Co"])
    const nobody = await larder(["people", "list", "--account", account.id])
    assert.match(
      nobody.stdout,
      /^Account acct_\w+ has no people yet. Invite one with: larder-serve people invite --account acct_\w+\n$/
    )
    assert.deepStrictEqual(await json(["people", "list", "--account", account.id]), { people: [], invitations: [] })

    const invite = ["people", "invite", "--account", account.id, "--operator"]
    const { is_mailed, link, mail_problem, ...open } = await json([...invite, "--email", "Ann@example.com"])
    const { expires_at, id, ...invited } = open
    assert.deepStrictEqual([is_mailed, mail_problem], [false, null])
    assert.deepStrictEqual(invited, {
      account_id: account.id,
      email: "ann@example.com",
      is_operator: true,
      person_id: null
    })
    assert.match(link, /^http:\/\/127\.0\.0\.1:8081\/invitation\/[\w-]{43}$/)
    assert.isAbove(Date.parse(expires_at), Date.now())
    assert.deepStrictEqual(await json(["people", "list", "--account", account.id]), { people: [], invitations: [open] })
    const { stdout: invitations } = await larder(["people", "list", "--account", account.id])
    assert.include(invitations, `${id}  ann@example.com  operator  a new person  ${expires_at}\n`)

    const { person } = await accept(link, "")
    assert.deepStrictEqual(await json(["people", "list", "--account", account.id]), {
      people: [person],
      invitations: []
    })
    const listed = await larder(["people", "list", "--account", account.id])
    assert.match(listed.stdout, /ann@example\.com +operator/)
    const removed = await larder(["people", "remove", "--person", person.id])
    assert.strictEqual(removed.stdout, `ann@example.com (${person.id}) can no longer sign in.\n`)
    assert.deepStrictEqual(await json(["people", "list", "--account", account.id]), { people: [], invitations: [] })
  })

  it("invites, lists and removes people through a running server, and prints links to its console", async () => {
    const account = await json(["accounts", "create", "--name", "Ann Co"])
    const { stop } = await startServer()
    const { link } = await json(["people", "invite", "--account", account.id])
    assert.match(link, /^http:\/\/console\.example\/invitation\/[\w-]{43}$/)
    const unknown = await larder(["people", "remove", "--person", "pers_a"])
    assert.strictEqual(
      unknown.problems,
      "larder-serve: There is no person pers_a. List them with: larder-serve people list --account ID\n"
    )
    await stop()
    const { person } = await accept(link, "bob@example.com")

    await startServer()
    assert.deepStrictEqual(await json(["people", "list", "--account", account.id]), {
      people: [person],
      invitations: []
    })
    const refused = await larder(["people", "invite", "--account", account.id, "--email", "BOB@example.com"])
    assert.deepStrictEqual(
      [refused.code, refused.problems],
      [1, "larder-serve: Someone already signs in with this e-mail address.\n"]
    )
    assert.deepStrictEqual(await json(["people", "remove", "--person", person.id]), person)
  })

  it("withdraws an invitation and prints a link to reset a password, through a running server", async () => {
    const account = await json(["accounts", "create", "--name", "Ann Co"])
    const { link } = await json(["people", "invite", "--account", account.id])
    const { person } = await accept(link, "ann@example.com")

    const { stop } = await startServer()
    const typo = await json(["people", "invite", "--account", account.id, "--email", "bod@example.com"])
    const withdrawn = await larder(["people", "withdraw", "--invitation", typo.id])
    assert.strictEqual(withdrawn.stdout, `The link of ${typo.id} no longer works.\n`)
    const repeated = await larder(["people", "withdraw", "--invitation", typo.id])
    assert.deepStrictEqual(
      [repeated.code, repeated.problems],
      [
        1,
        `larder-serve: There is no open invitation ${typo.id}. List them with: larder-serve people list --account ID\n`
      ]
    )
    const { stdout: reset } = await larder(["people", "reset", "--person", person.id])
    const [, newLink = ""] = /^(http:\/\/console\.example\/invitation\/[\w-]{43})\n\n/.exec(reset) ?? []
    assert.include(reset, "chooses the new password of ann@example.com")
    const { stdout: listed } = await larder(["people", "list", "--account", account.id])
    assert.match(listed, /inv_[0-9a-f]{20} +ann@example\.com +member +a new password/)
    await stop()
    assert.deepStrictEqual((await accept(newLink, "")).person, person)
  })

  it("logs each change in one line, with the user of the command and without link and e-mail address", async () => {
    const account = await json(["accounts", "create", "--name", "Ann Co"])
    const change = async (...args: ReadonlyArray<string>) => {
      const { stderr, stdout } = await larder(["people", ...args, "--json"])
      const { at: _, ...line } = JSON.parse(stderr)
      return { line, result: JSON.parse(stdout) }
    }
    const invited = await change("invite", "--account", account.id, "--email", "ann@example.com", "--operator")
    const withdrawn = await change("withdraw", "--invitation", invited.result.id)
    const { link } = await json(["people", "invite", "--account", account.id])
    const { person } = await accept(link, "ann@example.com")
    const reset = await change("reset", "--person", person.id)
    const removed = await change("remove", "--person", person.id)
    const about = { level: "INFO", who: `command ${userInfo().username}`, account: account.id }
    const invitation = { invitation_id: invited.result.id }
    const role = { is_operator: true, expires_at: invited.result.expires_at }
    assert.deepStrictEqual(
      [invited, withdrawn, reset, removed].map(({ line }) => line),
      [
        { ...about, event: "person invited", ...invitation, before: null, after: role },
        { ...about, event: "invitation withdrawn", ...invitation, before: role, after: null },
        {
          ...{ ...about, event: "password reset", person_id: person.id, invitation_id: reset.result.id },
          ...{ before: null, after: { expires_at: reset.result.expires_at } }
        },
        { ...about, event: "person removed", person_id: person.id, before: { is_operator: false }, after: null }
      ]
    )
  })

  it("prints links to the console's public address, by default its listener's address", async () => {
    const { id } = await json(["accounts", "create", "--name", "Ann Co"])
    const inviteWith = async (environment: Environment) =>
      (await json(["people", "invite", "--account", id], environment)).link.replace(/\/[\w-]{43}$/, "")
    assert.strictEqual(
      await inviteWith({ LARDER_CONSOLE_URL: "https://console.example.com/" }),
      "https://console.example.com/invitation"
    )
    assert.strictEqual(await inviteWith({ LARDER_HOST: "::1", LARDER_CONSOLE_PORT: "9" }), "http://[::1]:9/invitation")
    const invalid = await larder(["people", "invite", "--account", id], {
      LARDER_CONSOLE_URL: "https://example.com/larder"
    })
    assert.strictEqual(invalid.code, 2)
    assert.match(invalid.problems, /LARDER_CONSOLE_URL must be http\(s\):\/\/host, without a path/)
  })

  it("exits with 1 if the account does not exist", async () => {
    for (const command of ["invite", "list"]) {
      const { code, problems } = await larder(["people", command, "--account", "acct_a"])
      assert.deepStrictEqual(
        [code, problems],
        [1, "larder-serve: There is no account acct_a. List them with: larder-serve accounts list\n"]
      )
    }
  })
})
