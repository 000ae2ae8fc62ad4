import {
  type InputHTMLAttributes,
  type ReactNode,
  type Ref,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useId,
} from "react";
import { cn } from "../lib/cn";

const BOX =
  "w-full rounded-md border border-line-strong bg-surface text-sm text-ink placeholder:text-ink-3 disabled:opacity-60 aria-[invalid=true]:border-error";

export function Input({
  className,
  ...rest
}: InputHTMLAttributes<HTMLInputElement> & { ref?: Ref<HTMLInputElement> }) {
  return <input className={cn(BOX, "h-8 px-2.5", className)} {...rest} />;
}

export function Textarea({ className, ...rest }: TextareaHTMLAttributes<HTMLTextAreaElement>) {
  return <textarea className={cn(BOX, "min-h-20 px-2.5 py-1.5", className)} {...rest} />;
}

export function Select({ className, children, ...rest }: SelectHTMLAttributes<HTMLSelectElement>) {
  return (
    <select className={cn(BOX, "h-8 px-2 pr-7", className)} {...rest}>
      {children}
    </select>
  );
}

interface FieldProps {
  label: ReactNode;
  hint?: ReactNode;
  error?: ReactNode;
  className?: string;
  children: (ids: { id: string; "aria-describedby"?: string; "aria-invalid"?: boolean }) => ReactNode;
}

/** A control with its label, what it is for, and what is wrong with it. */
export function Field({ label, hint, error, className, children }: FieldProps) {
  const id = useId();
  const told = error ?? hint;
  return (
    <div className={cn("space-y-1", className)}>
      <label htmlFor={id} className="block text-sm font-medium">
        {label}
      </label>
      {children({
        id,
        "aria-describedby": told ? `${id}-told` : undefined,
        "aria-invalid": error ? true : undefined,
      })}
      {told && (
        <p id={`${id}-told`} className={cn("text-xs", error ? "text-error" : "text-ink-3")}>
          {told}
        </p>
      )}
    </div>
  );
}

export function Checkbox({
  className,
  ...rest
}: InputHTMLAttributes<HTMLInputElement> & { ref?: Ref<HTMLInputElement> }) {
  return <input type="checkbox" className={cn("size-4 shrink-0 accent-(--accent)", className)} {...rest} />;
}
