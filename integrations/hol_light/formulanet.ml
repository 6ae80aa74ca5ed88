(* Premises for HOL Light from the program formulanet. Load with #use; README.md in this directory explains it.
   Nothing here proves anything: theorems come from MESON_TAC and METIS_TAC alone. *)

#load "unix.cma";;

(* ---- Settings ----------------------------------------------------------- *)

(* The program, the library that it ranks, and the seconds that each try of FORMULANET_TAC may take. *)
let formulanet_environment name default = try Sys.getenv name with Not_found -> default;;
let formulanet_program = ref (formulanet_environment "FORMULANET" "formulanet");;
let formulanet_library = ref (formulanet_environment "FORMULANET_LIBRARY" "hol-light.db");;
let formulanet_seconds = ref 5;;
let formulanet_slices = ref [8; 16; 32; 64; 128];;

(* ---- Exact terms -------------------------------------------------------- *)

(* Every variable has its type where it is bound or first occurs, and so has every constant whose type its arguments leave
   open. No operator is overloaded: addition of reals is real_add. Names that could be read in another way are quoted, constants
   once and variables twice. *)

let formulanet_words s = filter (fun word -> word <> "") (String.split_on_char ' ' (String.map (fun c -> if c = '\n' then ' ' else c) s));;

let formulanet_infixes = formulanet_words
 "==> \\/ /\\ = IN < <= > >= SUBSET PSUBSET HAS_SIZE divides , .. + UNION - DIFF * INTER INSERT DELETE DIV MOD EXP CROSS PCROSS $ o";;

let formulanet_reserved = formulanet_words
 "if then else let and in match with function when lambda minimal GEN treal_eq hreal_eq nadd_eq treal_le hreal_le nadd_le
  treal_add hreal_add nadd_add treal_mul hreal_mul nadd_mul permutes has_derivative has_vector_derivative
  has_complex_derivative has_real_derivative differentiable complex_differentiable differentiable_on holomorphic_on
  analytic_on continuous continuous_on uniformly_continuous_on real_continuous real_continuous_on real_differentiable
  real_differentiable_on has_integral integrable_on absolutely_integrable_on has_measure has_real_integral
  real_integrable_on has_real_measure homeomorphic homotopy_equivalent retract_of face_of facet_of exposed_face_of
  extreme_point_of simplex tagged_division_of division_of tagged_partial_division_of fine edge_of within in_direction dot
  cross hull div rem pow ipow zpow rpow cpow has_sup has_inf UNION_OF INTERSECTION_OF";;

let formulanet_table names = let table = Hashtbl.create 997 in do_list (fun s -> Hashtbl.replace table s ()) names; table;;
let formulanet_infix = Hashtbl.mem (formulanet_table formulanet_infixes);;
let formulanet_special = Hashtbl.mem (formulanet_table (formulanet_infixes @ formulanet_reserved));;

let rec formulanet_all test s i = i >= String.length s || (test s.[i] && formulanet_all test s (i + 1));;

let formulanet_is_word s =
  let letter c = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') in
  let digit c = c >= '0' && c <= '9' in
  let prime = Char.chr 39 in
  s <> "" && (letter s.[0] || s.[0] = '_') &&
  formulanet_all (fun c -> letter c || digit c || c = '_' || c = prime) s 0 &&
  not (formulanet_special s) && not (String.length s >= 6 && String.sub s 0 6 = "lambda");;

(* A letter, then digits or primes: what would be read as a variable. *)
let formulanet_looks_variable s =
  s.[0] <> '_' && formulanet_all (fun c -> (c >= '0' && c <= '9') || c = Char.chr 39) s 1;;

let formulanet_quoted quote s =
  let b = Buffer.create 16 in
  Buffer.add_string b quote;
  String.iter (fun c -> if c = '\\' || c = Char.chr 39 then Buffer.add_char b '\\'; Buffer.add_char b c) s;
  Buffer.add_string b quote;
  Buffer.contents b;;

let formulanet_variable s = if formulanet_is_word s then s else formulanet_quoted (String.make 2 (Char.chr 39)) s;;

let rec formulanet_type ty =
  if is_vartype ty then dest_vartype ty else
  let binary sign a b = "(" ^ formulanet_type a ^ sign ^ formulanet_type b ^ ")" in
  match dest_type ty with
    "fun",[a; b] -> binary "->" a b
  | "prod",[a; b] -> binary "#" a b
  | "sum",[a; b] -> binary "+" a b
  | "cart",[a; b] -> binary "^" a b
  | name,[] -> name
  | name,parts -> "(" ^ String.concat "," (map formulanet_type parts) ^ ")" ^ name;;

(* Whether the type of a constant follows from the types of this many arguments. *)
let formulanet_determined name count =
  let rec arguments n ty =
    if n = 0 || is_vartype ty then [] else
    match dest_type ty with
      "fun",[a; b] -> a :: arguments (n - 1) b
    | _ -> [] in
  let ty = get_const_type name in
  subset (tyvars ty) (unions (map tyvars (arguments count ty)));;

(* Hypotheses and conclusion as one line. *)
let formulanet_sequent hyps concl =
  let out = Buffer.create 1000 in
  let add = Buffer.add_string out in
  let fresh taken v =
    let rec prime s = if mem s taken then prime (s ^ "_") else s in prime (fst (dest_var v)) in
  let names = rev_itlist (fun v env -> (v, fresh (map snd env) v) :: env) (freesl (concl :: hyps)) [] in
  let shown = ref [] in
  let bound = Hashtbl.create 7 in
  do_list (fun t -> ignore (find_terms (fun t ->
    if is_abs t then Hashtbl.replace bound (fst (dest_var (bndvar t))) (); false) t)) (concl :: hyps);
  let constant name ty count =
    let plain = formulanet_is_word name && not (Hashtbl.mem bound name) &&
      (not (formulanet_looks_variable name) || name = "T" || name = "F") in
    let text = if plain then name else formulanet_quoted (String.make 1 (Char.chr 39)) name in
    if formulanet_determined name count then text else "(" ^ text ^ ":" ^ formulanet_type ty ^ ")" in
  let rec term env tm =
    if is_numeral tm && mk_numeral (dest_numeral tm) = tm then add (string_of_num (dest_numeral tm)) else
    let head, args = strip_comb tm in
    match head, args with
      Const(("!" | "?" | "?!" | "@") as name,_), (Abs(_,_) as lambda) :: rest ->
        if rest <> [] then add "(";
        binder env name lambda;
        do_list (fun arg -> add " "; term env arg) rest;
        if rest <> [] then add ")"
    | Const("~",_), [arg] -> add "(~ "; term env arg; add ")"
    | Const(name,_), left :: right :: rest when formulanet_infix name && formulanet_determined name 2 ->
        if rest <> [] then add "(";
        add "("; term env left; add (" " ^ name ^ " "); term env right; add ")";
        do_list (fun arg -> add " "; term env arg) rest;
        if rest <> [] then add ")"
    | _, [] -> atom env head 0
    | _ -> add "("; atom env head (length args); do_list (fun arg -> add " "; term env arg) args; add ")"
  and atom env tm count =
    match tm with
      Const(name,ty) -> add (constant name ty count)
    | Abs(_,_) -> binder env "\\" tm
    | _ when is_var tm && can (assoc tm) env -> add (formulanet_variable (assoc tm env))
    | _ when is_var tm ->
        let text = formulanet_quoted (String.make 2 (Char.chr 39)) (assoc tm names) in
        if mem tm !shown then add text else
        (shown := tm :: !shown; add ("(" ^ text ^ ":" ^ formulanet_type (type_of tm) ^ ")"))
    | _ -> term env tm
  and binder env sign lambda =
    add ("(" ^ sign);
    let rec variables env lambda =
      let v, body = dest_abs lambda in
      let taken = map (fun w -> try assoc w env with Failure _ -> assoc w names) (frees lambda) in
      let name = fresh taken v in
      add ("(" ^ formulanet_variable name ^ ":" ^ formulanet_type (type_of v) ^ ")");
      let env = (v,name) :: env in
      match body with
        Abs(_,_) when sign = "\\" -> add " "; variables env body
      | Comb(Const(c,_),(Abs(_,_) as inner)) when c = sign -> add " "; variables env inner
      | _ -> add ". "; term env body in
    variables env lambda;
    add ")" in
  (match hyps with
     [] -> ()
   | first :: others -> term [] first; do_list (fun hyp -> add ", "; term [] hyp) others; add " |- ");
  term [] concl;
  Buffer.contents out;;

(* ---- Order and proofs ---------------------------------------------------- *)

(* The kernel keeps no proofs. What a proof used is told by its script: the names of theorems between its let and its ;;, in the
   files that were loaded. For what is proved after this file was loaded, tactics themselves note the theorems that they are
   given (see below). *)

type formulanet_token = Formulanet_name of string | Formulanet_sign of char | Formulanet_end;;

(* Names and signs of an OCaml text, without comments, strings and quoted terms. *)
let formulanet_tokens text =
  let n = String.length text in
  let found = ref [] in
  let is_name c = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c = '_' || c = Char.chr 39 in
  let at i = if i < n then text.[i] else ' ' in
  let rec comment depth i =
    if i >= n || depth = 0 then i
    else if at i = '(' && at (i + 1) = '*' then comment (depth + 1) (i + 2)
    else if at i = '*' && at (i + 1) = ')' then comment (depth - 1) (i + 2)
    else comment depth (i + 1) in
  let rec quoted mark i =
    if i >= n || at i = mark then i + 1 else if at i = '\\' && mark = '"' then quoted mark (i + 2) else quoted mark (i + 1) in
  let rec name i = if i < n && is_name (at i) then name (i + 1) else i in
  let rec scan i =
    if i < n then
      match at i with
        '(' when at (i + 1) = '*' && at (i + 2) <> ')' -> scan (comment 1 (i + 2))
      | '"' | '`' as mark -> scan (quoted mark (i + 1))
      | ';' when at (i + 1) = ';' -> found := Formulanet_end :: !found; scan (i + 2)
      | c when c = Char.chr 39 ->
          if at (i + 1) = '\\' then scan (quoted c (i + 3)) else scan (if at (i + 2) = c then i + 3 else i + 1)
      | c when is_name c ->
          let j = name i in found := Formulanet_name (String.sub text i (j - i)) :: !found; scan j
      | ' ' | '\n' | '\t' | '\r' -> scan (i + 1)
      | c -> found := Formulanet_sign c :: !found; scan (i + 1) in
  scan 0; rev !found;;

let formulanet_contents file =
  let ch = open_in_bin file in
  let text = really_input_string ch (in_channel_length ch) in
  close_in ch; text;;

(* HOL Light notes the last part of the path of a file that it loads, and a digest. *)
let formulanet_path (base,digest) =
  let below dir = try map (Filename.concat dir) (Array.to_list (Sys.readdir dir)) with Sys_error _ -> [] in
  let dirs = !hol_dir :: "." :: map (fun s -> if s = "$" then !hol_dir else s) !load_path in
  let is_it path = Sys.file_exists path && not (Sys.is_directory path) && Digest.file path = digest in
  let here = map (fun dir -> Filename.concat dir base) (dirs @ below !hol_dir @ below ".") in
  try [find is_it here] with Failure _ -> [];;

let formulanet_definitions = formulanet_table (formulanet_words
 "new_definition new_basic_definition new_recursive_definition new_inductive_definition new_specification new_axiom define
  new_type_definition new_basic_type_definition define_type define_quotient_type lift_function");;

(* Calls note with module, names and mentioned names of every phrase that binds a name, in order. *)
let formulanet_phrases note =
  let rec split phrase = function
      [] -> [rev phrase]
    | Formulanet_end :: rest -> rev phrase :: split [] rest
    | token :: rest -> split (token :: phrase) rest in
  let names = mapfilter (function Formulanet_name s -> s | _ -> fail ()) in
  let rec pattern left = function
      Formulanet_sign '=' :: body -> rev left, body
    | token :: rest -> pattern (token :: left) rest
    | [] -> rev left, [] in
  do_list (fun (base,_ as file) ->
    do_list (fun path ->
      do_list (function
          Formulanet_name "let" :: phrase ->
            let left, body = pattern [] phrase in note (Filename.remove_extension base) (names left) (names body)
        | _ -> ())
        (split [] (formulanet_tokens (formulanet_contents path))))
      (formulanet_path file))
    (rev !loaded_files);;

(* Conclusions of theorems that were proved while we watched, with the names that were used. *)
let formulanet_watched : (int, term * string list) Hashtbl.t = Hashtbl.create 97;;
let formulanet_key tm = Hashtbl.hash_param 100 300 tm;;
let formulanet_known : (int, term * string) Hashtbl.t = Hashtbl.create 4999;;
let formulanet_known_size = ref 0;;

let formulanet_name_of th =
  if length !theorems <> !formulanet_known_size then
   (Hashtbl.reset formulanet_known;
    formulanet_known_size := length !theorems;
    do_list (fun (name,th) -> let tm = concl th in Hashtbl.add formulanet_known (formulanet_key tm) (tm,name)) !theorems);
  let tm = concl th in
  snd (find (fun (other,_) -> other = tm) (Hashtbl.find_all formulanet_known (formulanet_key tm)));;

let formulanet_used : string list ref = ref [];;

(* Notes that a tactic or rule was given theorems. *)
let formulanet_note ths = formulanet_used := union (mapfilter formulanet_name_of ths) !formulanet_used;;

(* Ends a proof: what was noted since the last one belongs to this theorem. *)
let formulanet_proved th =
  let tm = concl th in
  Hashtbl.replace formulanet_watched (formulanet_key tm) (tm, !formulanet_used);
  formulanet_used := [];
  th;;

let formulanet_proof_of th =
  let tm = concl th in
  snd (find (fun (other,_) -> other = tm) (Hashtbl.find_all formulanet_watched (formulanet_key tm)));;

(* ---- The theory file ------------------------------------------------------ *)

let formulanet_json s =
  let b = Buffer.create (String.length s + 2) in
  Buffer.add_char b '"';
  String.iter (fun c ->
    if c = '"' || c = '\\' then (Buffer.add_char b '\\'; Buffer.add_char b c)
    else if Char.code c < 32 then Buffer.add_string b (Printf.sprintf "\\u%04x" (Char.code c))
    else Buffer.add_char b c) s;
  Buffer.add_char b '"';
  Buffer.contents b;;

(* Writes all named theorems in the order in which they were proved. Those that no loaded file defines come last. *)
let FORMULANET_DUMP file =
  let known = Hashtbl.create 4999 in
  do_list (fun (name,th) -> Hashtbl.replace known name th) !theorems;
  let places = Hashtbl.create 4999 and count = ref 0 in
  formulanet_phrases (fun base names body ->
    incr count;
    let body_names = formulanet_table body in
    let is_definition = Hashtbl.fold (fun s () found -> found || Hashtbl.mem formulanet_definitions s) body_names false in
    let mentioned = if is_definition then [] else filter (Hashtbl.mem known) (Hashtbl.fold (fun s () l -> s :: l) body_names []) in
    do_list (fun name -> if Hashtbl.mem known name then Hashtbl.replace places name (!count,base,mentioned)) names);
  let place name = try Hashtbl.find places name with Not_found -> max_int,"",[] in
  let position name = let at,_,_ = place name in at in
  let all = Hashtbl.fold (fun name th found -> (position name,name,th) :: found) known [] in
  let sorted = List.sort (fun (a,s,_) (b,t,_) -> compare (a,s) (b,t)) all in
  let unfinished = file ^ ".unfinished" in
  let ch = open_out_bin unfinished in
  let with_proof = ref 0 in
  do_list (fun (at,name,th) ->
    let _,base,mentioned = place name in
    let used = try formulanet_proof_of th with Failure _ -> filter (fun s -> position s < at) mentioned in
    let used = List.sort compare (filter (fun s -> s <> name) used) in
    let field key value = ", " ^ formulanet_json key ^ ": " ^ value in
    if used <> [] then incr with_proof;
    output_string ch
     ("{\"name\": " ^ formulanet_json name ^
      field "statement" (formulanet_json (formulanet_sequent (hyp th) (concl th))) ^
      field "syntax" "\"hol\"" ^ field "overload" "\"resolved\"" ^
      field "module" (formulanet_json (if base = "" then "session" else base)) ^
      (if used = [] then "" else field "proof" ("[" ^ String.concat ", " (map formulanet_json used) ^ "]")) ^ "}\n"))
    sorted;
  close_out ch;
  Sys.rename unfinished file;
  report (string_of_int (length sorted) ^ " theorems, " ^ string_of_int !with_proof ^ " with proofs, in " ^ file);;

(* ---- Asking --------------------------------------------------------------- *)

(* Runs the program with arguments; gives the lines that it printed, and what it said besides. *)
let formulanet_run arguments =
  let out = Filename.temp_file "formulanet" ".out" and err = Filename.temp_file "formulanet" ".err" in
  let remove () = Sys.remove out; Sys.remove err in
  let command = String.concat " " (map Filename.quote (!formulanet_program :: arguments)) in
  let status = Sys.command (command ^ " </dev/null >" ^ Filename.quote out ^ " 2>" ^ Filename.quote err) in
  let printed = formulanet_contents out and said = formulanet_contents err in
  remove ();
  if status = 127 then failwith ("formulanet: there is no program " ^ !formulanet_program ^ "; set formulanet_program")
  else if status <> 0 then failwith ("formulanet: " ^ String.trim said)
  else filter (fun line -> line <> "") (String.split_on_char '\n' printed), String.trim said;;

(* Makes the library of all named theorems, or adds what is new to the one that is there. *)
let FORMULANET_LEARN () =
  let file = Filename.temp_file "formulanet" ".jsonl" in
  FORMULANET_DUMP file;
  let what = if Sys.file_exists !formulanet_library then "add" else "build" in
  let _, said = try formulanet_run ["library"; what; !formulanet_library; file] with e -> Sys.remove file; raise e in
  Sys.remove file;
  report said;;

(* The string of a field of an object on one line. *)
let formulanet_field key line =
  let start = "\"" ^ key ^ "\":\"" in
  let n = String.length start in
  let rec seek i = if String.sub line i n = start then i + n else seek (i + 1) in
  let b = Buffer.create 16 in
  let rec read i =
    match line.[i] with
      '"' -> Buffer.contents b
    | '\\' -> Buffer.add_char b line.[i + 1]; read (i + 2)
    | c -> Buffer.add_char b c; read (i + 1) in
  read (seek 0);;

(* Names of the best premises for a goal with hypotheses, the best first. *)
let formulanet_ask count hyps tm =
  let file = Filename.temp_file "formulanet" ".goal" in
  let ch = open_out_bin file in
  output_string ch (formulanet_sequent hyps tm);
  close_out ch;
  let arguments =
   ["rank"; "--library"; !formulanet_library; "--conjecture"; "@" ^ file; "--overload"; "resolved"; "-k"; string_of_int count;
    "--format"; "json"] in
  let lines, _ = try formulanet_run arguments with e -> Sys.remove file; raise e in
  Sys.remove file;
  map (formulanet_field "name") lines;;

let FORMULANET count tm = formulanet_ask count [] tm;;

(* ---- Proving -------------------------------------------------------------- *)

exception Formulanet_timeout;;

(* A limit of seconds of the CPU, so that other work of the machine does not count. The timer goes off again and again: some code of
   HOL Light catches every exception. *)
let formulanet_limited seconds f x =
  let timer seconds = ignore (Unix.alarm seconds) in
  let finish = Sys.time () +. float_of_int seconds in
  let tick _ = timer 1; if Sys.time () >= finish then raise Formulanet_timeout in
  let before = Sys.signal Sys.sigalrm (Sys.Signal_handle tick) in
  let rec stop () = try timer 0; Sys.set_signal Sys.sigalrm before with Formulanet_timeout -> stop () in
  try timer 1; let y = f x in stop (); y with e -> stop (); raise e;;

(* Runs a tactic without its messages. *)
let formulanet_quiet (tac : tactic) goal =
  let before = !verbose in
  verbose := false;
  try let result = tac goal in verbose := before; result with e -> verbose := before; raise e;;

(* The result of a prover with premises if it ends in time. *)
let formulanet_try seconds prover premises goal =
  try Some (formulanet_limited seconds (formulanet_quiet (prover (map snd premises))) goal)
  with Sys.Break -> raise Sys.Break | _ -> None;;

(* Leaves out what a prover does without, for as long as two tries in all; one of these may take one second. *)
let formulanet_fewer prover premises goal =
  let finish = Sys.time () +. 2.0 *. float_of_int !formulanet_seconds in
  let rec reduce kept result = function
      [] -> kept, result
    | premise :: others ->
        if Sys.time () > finish then rev (premise :: others) @ kept, result else
        match formulanet_try 1 prover (rev others @ kept) goal with
          Some better -> reduce kept (Some better) others
        | None -> reduce (premise :: kept) result others in
  reduce [] None (rev premises);;

(* Tries MESON and METIS with the best 8, 16, ... premises, and says what to write instead. *)
let FORMULANET_TAC : tactic = fun (asl,w as goal) ->
  let theorem_of name = name, assoc name !theorems in
  let best = mapfilter theorem_of (formulanet_ask (itlist max !formulanet_slices 0) (map (concl o snd) asl) w) in
  let provers = ["ASM_MESON_TAC", ASM_MESON_TAC; "ASM_METIS_TAC", ASM_METIS_TAC] in
  let tries = flat (map (fun count -> map (fun prover -> count,prover) provers) !formulanet_slices) in
  let rec first = function
      [] -> failwith ("FORMULANET_TAC: not proved with the best " ^ string_of_int (length best) ^ " premises")
    | (count,(name,prover)) :: others ->
        let slice = fst (chop_list (min count (length best)) best) in
        match formulanet_try !formulanet_seconds prover slice goal with
          None -> first others
        | Some result ->
            let needed, shorter = formulanet_fewer prover slice goal in
            report ("proved with the best " ^ string_of_int (length slice) ^ " premises: " ^ name ^ "[" ^
                    String.concat "; " (map fst needed) ^ "]");
            formulanet_note (map snd needed);
            (match shorter with Some result -> result | None -> result) in
  first tries;;

(* ---- Watching proofs ------------------------------------------------------ *)

let prove goal = try formulanet_proved (prove goal) with e -> formulanet_used := []; raise e;;
let g tm = formulanet_used := []; g tm;;
let top_thm () = formulanet_proved (top_thm ());;

let formulanet_lists f ths = formulanet_note ths; f ths;;
let formulanet_one f th = formulanet_note [th]; f th;;
let REWRITE_TAC = formulanet_lists REWRITE_TAC;;
let ONCE_REWRITE_TAC = formulanet_lists ONCE_REWRITE_TAC;;
let PURE_REWRITE_TAC = formulanet_lists PURE_REWRITE_TAC;;
let PURE_ONCE_REWRITE_TAC = formulanet_lists PURE_ONCE_REWRITE_TAC;;
let ASM_REWRITE_TAC = formulanet_lists ASM_REWRITE_TAC;;
let ONCE_ASM_REWRITE_TAC = formulanet_lists ONCE_ASM_REWRITE_TAC;;
let PURE_ASM_REWRITE_TAC = formulanet_lists PURE_ASM_REWRITE_TAC;;
let SIMP_TAC = formulanet_lists SIMP_TAC;;
let ASM_SIMP_TAC = formulanet_lists ASM_SIMP_TAC;;
let PURE_SIMP_TAC = formulanet_lists PURE_SIMP_TAC;;
let MESON_TAC = formulanet_lists MESON_TAC;;
let ASM_MESON_TAC = formulanet_lists ASM_MESON_TAC;;
let METIS_TAC = formulanet_lists METIS_TAC;;
let ASM_METIS_TAC = formulanet_lists ASM_METIS_TAC;;
let SET_TAC = formulanet_lists SET_TAC;;
let REWRITE_RULE = formulanet_lists REWRITE_RULE;;
let ONCE_REWRITE_RULE = formulanet_lists ONCE_REWRITE_RULE;;
let PURE_REWRITE_RULE = formulanet_lists PURE_REWRITE_RULE;;
let SIMP_RULE = formulanet_lists SIMP_RULE;;
let MESON = formulanet_lists MESON;;
let METIS = formulanet_lists METIS;;
let GEN_REWRITE_TAC conversional = formulanet_lists (GEN_REWRITE_TAC conversional);;
let GEN_REWRITE_RULE conversional = formulanet_lists (GEN_REWRITE_RULE conversional);;
let MATCH_MP_TAC = formulanet_one MATCH_MP_TAC;;
let MATCH_ACCEPT_TAC = formulanet_one MATCH_ACCEPT_TAC;;
let ACCEPT_TAC = formulanet_one ACCEPT_TAC;;
let MP_TAC = formulanet_one MP_TAC;;
let ASSUME_TAC = formulanet_one ASSUME_TAC;;
let STRIP_ASSUME_TAC = formulanet_one STRIP_ASSUME_TAC;;
let DISJ_CASES_TAC = formulanet_one DISJ_CASES_TAC;;
let CHOOSE_TAC = formulanet_one CHOOSE_TAC;;
let MATCH_MP = formulanet_one MATCH_MP;;
let MP = formulanet_one MP;;
let REWR_CONV = formulanet_one REWR_CONV;;
let SPEC tm = formulanet_one (SPEC tm);;
let SPECL tms = formulanet_one (SPECL tms);;
let ISPEC tm = formulanet_one (ISPEC tm);;
let ISPECL tms = formulanet_one (ISPECL tms);;
