import { X } from "lucide-react";
import { useState } from "react";
import { Button } from "../../../components/button";
import { Input, Select } from "../../../components/field";
import { fieldLabel } from "../../../lib/labels";
import type { ProductField } from "../../../lib/mapping";
import { errorAt, type Profile, removeWord, setWord, wordsOf } from "./draft";

interface Props {
  profile: Profile;
  fields: ProductField[];
  readOnly: boolean;
  error: unknown;
  onChange: (profile: Profile) => void;
}

const NEW = { field: "", word: "", value: "" };

/** What words in the files mean, by field. */
export function ValueWords({ profile, fields, readOnly, error, onChange }: Props) {
  const [fresh, setFresh] = useState(NEW);
  const words = wordsOf(profile);
  const wrong = errorAt(error, "values");
  return (
    <div className="space-y-2">
      {words.map((one) => (
        <div key={`${one.field} ${one.word}`} className="flex flex-wrap items-center gap-2 text-sm">
          <span className="min-w-0 flex-1 basis-40 break-all">
            {fieldLabel(one.field)}: “{one.word}”
          </span>
          <Input
            aria-label={`${fieldLabel(one.field)}: “${one.word}” is read as`}
            placeholder="empty"
            className="w-40"
            value={one.value}
            onChange={(event) => onChange(setWord(profile, { ...one, value: event.target.value }))}
          />
          <Button
            look="quiet"
            size="icon-sm"
            aria-label={`Remove “${one.word}”`}
            onClick={() => onChange(removeWord(profile, one))}
          >
            <X aria-hidden />
          </Button>
        </div>
      ))}
      {words.length === 0 && <p className="text-sm text-ink-2">None</p>}
      {!readOnly && (
        <div className="flex flex-wrap items-center gap-2">
          <Select
            aria-label="Field of the word"
            className="w-44"
            value={fresh.field}
            onChange={(event) => setFresh({ ...fresh, field: event.target.value })}
          >
            <option value="">Field …</option>
            {fields.map((field) => (
              <option key={field.target} value={field.target}>
                {fieldLabel(field.target)}
              </option>
            ))}
          </Select>
          <Input
            aria-label="Word in the file"
            placeholder="Word in the file"
            className="w-40"
            value={fresh.word}
            onChange={(event) => setFresh({ ...fresh, word: event.target.value })}
          />
          <Input
            aria-label="Read as"
            placeholder="Read as (empty: no value)"
            className="w-48"
            value={fresh.value}
            onChange={(event) => setFresh({ ...fresh, value: event.target.value })}
          />
          <Button
            disabled={!fresh.field || !fresh.word.trim()}
            onClick={() => {
              onChange(setWord(profile, { ...fresh, word: fresh.word.trim() }));
              setFresh(NEW);
            }}
          >
            Add word
          </Button>
        </div>
      )}
      {wrong && <p className="text-xs text-error">{wrong}</p>}
    </div>
  );
}
