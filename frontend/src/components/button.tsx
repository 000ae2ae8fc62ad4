import { cva, type VariantProps } from "class-variance-authority";
import { LoaderCircle } from "lucide-react";
import { Slot } from "radix-ui";
import type { ButtonHTMLAttributes, Ref } from "react";
import { cn } from "../lib/cn";

const looks = cva(
  "inline-flex shrink-0 items-center justify-center gap-1.5 rounded-md border font-medium whitespace-nowrap transition-colors disabled:opacity-50 [&_svg]:size-4 [&_svg]:shrink-0",
  {
    variants: {
      look: {
        primary: "border-transparent bg-accent text-accent-ink hover:bg-accent-hover",
        plain: "border-line-strong bg-surface text-ink hover:bg-hover",
        quiet: "border-transparent bg-transparent text-ink-2 hover:bg-hover hover:text-ink",
        danger: "border-transparent bg-danger text-danger-ink hover:opacity-90",
      },
      size: { md: "h-8 px-3 text-sm", sm: "h-7 px-2 text-xs", icon: "size-8", "icon-sm": "size-7" },
    },
    defaultVariants: { look: "plain", size: "md" },
  },
);

interface Props extends ButtonHTMLAttributes<HTMLButtonElement>, VariantProps<typeof looks> {
  asChild?: boolean;
  busy?: boolean;
  ref?: Ref<HTMLButtonElement>;
}

export function Button({ look, size, asChild, busy, className, children, disabled, ...rest }: Props) {
  const classes = cn(looks({ look, size }), className);
  if (asChild) {
    return (
      <Slot.Root className={classes} {...rest}>
        {children}
      </Slot.Root>
    );
  }
  return (
    <button
      type="button"
      className={classes}
      aria-busy={busy || undefined}
      disabled={disabled || busy}
      {...rest}
    >
      {busy && <LoaderCircle className="animate-spin" aria-hidden />}
      {children}
    </button>
  );
}
