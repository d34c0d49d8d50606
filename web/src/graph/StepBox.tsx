import { Handle, type NodeProps, Position } from "@xyflow/react";
import { memo } from "react";

import { Status } from "../parts/Status.tsx";
import type { Box } from "./drawing.ts";

export type Data = { box: Box; mark: string; fold: (key: string, folded: boolean) => void };

/** A step in the graph, or a group of steps, which can be folded. */
export const StepBox = memo(function StepBox({ data, selected }: NodeProps & { data: Data }) {
  const { box, mark, fold } = data;
  const isOpen = box.isGroup && !box.isFolded;
  return (
    <div className={`box box-${box.state} ${isOpen ? "box-open" : ""} ${selected ? "box-selected" : ""} ${mark && `box-${mark}`}`}>
      <Handle type="target" position={Position.Top} isConnectable={false} />
      <div className="box-head">
        <span className="box-label" title={box.key}>
          {box.label}
        </span>
        {box.isGroup && (
          <button
            type="button"
            className="box-fold nodrag"
            aria-expanded={isOpen}
            aria-label={`${isOpen ? "Fold" : "Unfold"} ${box.label}`}
            onClick={(event) => {
              event.stopPropagation();
              fold(box.key, isOpen);
            }}
          >
            {isOpen ? "−" : `+${box.held || ""}`}
          </button>
        )}
      </div>
      <div className="box-foot">
        <Status status={box.state} />
        <span className="box-kind">{box.kind}</span>
        {box.note && <span className="box-note">{box.note}</span>}
      </div>
      <Handle type="source" position={Position.Bottom} isConnectable={false} />
      <Handle id="out" type="source" position={Position.Right} isConnectable={false} />
      <Handle id="in" type="target" position={Position.Right} isConnectable={false} />
    </div>
  );
});
