import { Fragment } from "react";

const ADDRESS = /\bhttps?:\/\/[^\s<>"'`{}|\\^[\]]+/g;

/** A stranger's text: it is shown as it is, and only addresses of the web can be followed. */
export function Inert({ text }: { text: string }) {
  const parts: { text: string; href?: string }[] = [];
  let end = 0;
  for (const found of text.matchAll(ADDRESS)) {
    parts.push({ text: text.slice(end, found.index) }, { text: found[0], href: found[0] });
    end = found.index + found[0].length;
  }
  parts.push({ text: text.slice(end) });
  return parts.map((part, place) =>
    part.href ? (
      <a key={place} href={part.href} rel="noopener noreferrer nofollow" target="_blank">
        {part.text}
      </a>
    ) : (
      <Fragment key={place}>{part.text}</Fragment>
    ),
  );
}
