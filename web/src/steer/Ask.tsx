import { type ReactNode, useId, useRef } from "react";

type Given = {
  /** What the button says. */
  name: string;
  title: string;
  children?: ReactNode;
  onSure: () => void;
  disabled?: boolean;
  grave?: boolean;
};

/** A button for something that cannot be taken back: it asks first. */
export function Ask({ name, title, children, onSure, disabled, grave }: Given) {
  const box = useRef<HTMLDialogElement>(null);
  const id = useId();
  const sure = () => {
    box.current?.close();
    onSure();
  };
  return (
    <>
      <button type="button" className={grave ? "grave" : ""} disabled={disabled} onClick={() => box.current?.showModal()}>
        {name}
      </button>
      <dialog ref={box} aria-labelledby={id}>
        <h2 id={id}>{title}</h2>
        {children}
        <div className="tools">
          <button type="button" onClick={() => box.current?.close()}>
            Leave it
          </button>
          <button type="button" className={grave ? "grave main" : "main"} onClick={sure}>
            {name}
          </button>
        </div>
      </dialog>
    </>
  );
}
