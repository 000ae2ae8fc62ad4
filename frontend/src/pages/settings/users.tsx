import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { Plus, UserRound } from "lucide-react";
import { useState } from "react";
import { Button } from "../../components/button";
import { EmptyState } from "../../components/empty";
import { ErrorNote } from "../../components/error-note";
import { Field, Input, Select } from "../../components/field";
import { FormDialog } from "../../components/form-dialog";
import { Menu, MenuItem, MenuLabel, MenuLine } from "../../components/menu";
import { Secret } from "../../components/secret";
import { Badge } from "../../components/status";
import { List, Table } from "../../components/table";
import { Time } from "../../components/time";
import { toast } from "../../components/toast";
import { client, ok, type Schemas } from "../../lib/api";
import { useSession } from "../../lib/session";

type User = Schemas["UserShape"];
type Role = User["role"];
const ROLES: Record<Role, string> = {
  admin: "Admin: all orgs",
  member: "Member: own jobs",
  viewer: "Viewer: reads only",
};

/** Who may come in, and what they may do. */
export default function Users() {
  const queries = useQueryClient();
  const me = useSession().user;
  const [adding, setAdding] = useState(false);
  const [password, setPassword] = useState<{ of: string; value: string } | null>(null);
  const [error, setError] = useState<unknown>(null);
  const users = useInfiniteQuery({
    queryKey: ["users"],
    queryFn: ({ pageParam, signal }) =>
      ok(client.GET("/api/users", { params: { query: { after: pageParam } }, signal })),
    initialPageParam: "",
    getNextPageParam: (page) => page.next ?? undefined,
  });
  const rows = users.data?.pages.flatMap((page) => page.items) ?? [];
  const again = () => void queries.invalidateQueries({ queryKey: ["users"] });
  const run = async (act: () => Promise<unknown>) => {
    setError(null);
    try {
      await act();
      again();
    } catch (problem) {
      setError(problem);
    }
  };
  const change = (user: User, body: { role?: Role; disabled?: boolean }) =>
    run(async () => {
      await ok(
        client.PATCH("/api/users/{user_id}", { params: { path: { user_id: String(user.id) } }, body }),
      );
      toast.success(`${user.email} is changed`);
    });
  const reset = (user: User) =>
    run(async () => {
      const made = await ok(
        client.POST("/api/users/{user_id}/password", {
          params: { path: { user_id: String(user.id) } },
          body: {},
        }),
      );
      if (made.password) setPassword({ of: user.email, value: made.password });
    });
  const add = async (form: FormData) => {
    const made = await ok(
      client.POST("/api/users", {
        body: {
          email: String(form.get("email")),
          role: String(form.get("role")) as Role,
          ...(form.get("org") ? { org: String(form.get("org")) } : {}),
        },
      }),
    );
    setAdding(false);
    if (made.password) setPassword({ of: made.email, value: made.password });
    again();
  };
  return (
    <>
      <div className="mb-3 flex justify-end">
        <Button look="primary" onClick={() => setAdding(true)}>
          <Plus aria-hidden /> New user
        </Button>
      </div>
      {error !== null && <ErrorNote error={error} className="mb-3" />}
      <List query={users} rows={rows.length} empty={<EmptyState icon={UserRound} title="No users yet" />}>
        <Table
          label="Users"
          head={[
            { label: "E-mail" },
            { label: "Role" },
            { label: "Organisation", className: "hidden sm:table-cell" },
            { label: "Since", className: "hidden md:table-cell" },
            { label: <span className="sr-only">Actions</span> },
          ]}
        >
          {rows.map((user) => (
            <tr key={user.id}>
              <td className="font-medium">
                {user.email} {user.disabledAt && <Badge>disabled</Badge>}
              </td>
              <td>{user.role}</td>
              <td className="hidden sm:table-cell">{user.org}</td>
              <td className="hidden whitespace-nowrap text-ink-2 md:table-cell">
                <Time at={user.createdAt} />
              </td>
              <td className="text-right">
                {user.id !== me.id && (
                  <Menu trigger={<Button size="sm">Change</Button>}>
                    <MenuLabel>Role</MenuLabel>
                    {(Object.keys(ROLES) as Role[]).map((role) => (
                      <MenuItem
                        key={role}
                        disabled={role === user.role}
                        onSelect={() => void change(user, { role })}
                      >
                        {ROLES[role]}
                      </MenuItem>
                    ))}
                    <MenuLine />
                    <MenuItem onSelect={() => void reset(user)}>Reset password</MenuItem>
                    <MenuItem
                      danger={!user.disabledAt}
                      onSelect={() => void change(user, { disabled: !user.disabledAt })}
                    >
                      {user.disabledAt ? "Restore access" : "Disable"}
                    </MenuItem>
                  </Menu>
                )}
              </td>
            </tr>
          ))}
        </Table>
      </List>
      {adding && (
        <FormDialog
          title="New user"
          description="A password is created and shown to you once."
          action="Create"
          onClose={() => setAdding(false)}
          onSave={add}
        >
          <Field label="E-mail">
            {(ids) => <Input {...ids} name="email" type="email" required autoComplete="off" />}
          </Field>
          <Field label="Role">
            {(ids) => (
              <Select {...ids} name="role" defaultValue="member">
                {(Object.keys(ROLES) as Role[]).map((role) => (
                  <option key={role} value={role}>
                    {ROLES[role]}
                  </option>
                ))}
              </Select>
            )}
          </Field>
          <Field label="Organisation" hint="Your own if left empty.">
            {(ids) => <Input {...ids} name="org" placeholder={me.org.name} />}
          </Field>
        </FormDialog>
      )}
      {password && (
        <Secret
          title={`Password of ${password.of}`}
          value={password.value}
          note="Pass it on safely. It is shown only once; the user can change it."
          onClose={() => setPassword(null)}
        />
      )}
    </>
  );
}
