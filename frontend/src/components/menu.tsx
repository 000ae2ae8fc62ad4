import type { LucideIcon } from "lucide-react";
import { DropdownMenu as Radix } from "radix-ui";
import type { ReactNode } from "react";
import { cn } from "../lib/cn";

export function Menu({
  trigger,
  children,
  align = "end",
}: {
  trigger: ReactNode;
  children: ReactNode;
  align?: "start" | "end";
}) {
  return (
    <Radix.Root>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          align={align}
          sideOffset={4}
          collisionPadding={8}
          className="fade-in z-50 max-h-(--radix-dropdown-menu-content-available-height) min-w-44 overflow-y-auto rounded-lg border bg-surface p-1 shadow-lg"
        >
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

const ITEM =
  "flex min-h-8 cursor-default items-center gap-2 rounded px-2 py-1 text-sm outline-none select-none data-[disabled]:opacity-50 data-[highlighted]:bg-hover [&_svg]:size-4 [&_svg]:text-ink-3";

interface ItemProps {
  icon?: LucideIcon;
  onSelect: () => void;
  children: ReactNode;
  disabled?: boolean;
  danger?: boolean;
  hint?: ReactNode;
}

export function MenuItem({ icon: Icon, onSelect, children, disabled, danger, hint }: ItemProps) {
  return (
    <Radix.Item
      className={cn(ITEM, danger && "text-danger [&_svg]:text-danger")}
      onSelect={onSelect}
      disabled={disabled}
    >
      {Icon && <Icon aria-hidden />}
      <span className="flex-1">{children}</span>
      {hint && <span className="text-xs text-ink-3">{hint}</span>}
    </Radix.Item>
  );
}

export function MenuCheck({
  checked,
  onChange,
  children,
}: {
  checked: boolean;
  onChange: (on: boolean) => void;
  children: ReactNode;
}) {
  return (
    <Radix.CheckboxItem
      className={cn(ITEM, "pl-7 relative")}
      checked={checked}
      onCheckedChange={onChange}
      onSelect={(event) => event.preventDefault()}
    >
      <Radix.ItemIndicator className="absolute left-2 text-accent">✓</Radix.ItemIndicator>
      {children}
    </Radix.CheckboxItem>
  );
}

export function MenuLabel({ children }: { children: ReactNode }) {
  return <Radix.Label className="px-2 py-1 text-xs text-ink-3">{children}</Radix.Label>;
}

export function MenuLine() {
  return <Radix.Separator className="my-1 h-px bg-line" />;
}
