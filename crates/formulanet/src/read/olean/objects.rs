//! Objects of compiled modules in Lean's memory layout: `.olean` files are images of memory.
//!
//! No content of a file is trusted. Every address is looked up in the parts that were read, and has to be
//! aligned; everything read of an object has to lie inside its part. Apart from the components of a name,
//! which are bounded, nothing here follows more than one address, so that bounding cycles is left to the
//! callers.

use std::collections::HashMap;
use std::rc::Rc;

/// Description of the damage in a file.
pub(super) type Damage = String;

/// Maximum size of a part in bytes.
pub(super) const LARGEST: u64 = 1 << 30;
/// Maximum number of components of a name.
const LONGEST_NAME: usize = 256;

/// Bytes before the base address: marker, version, flags, version of Lean, build.
const HEADER: usize = 5 + 1 + 1 + 33 + 40;
/// Version of the format.
const VERSION: u8 = 2;

const ARRAY: u8 = 246;
const STRING: u8 = 249;
/// Highest tag of a constructor; the tag is the constructor's number.
const LAST_CONSTRUCTOR: u8 = 244;

/// An object: its address, or a small number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Object(u64);

impl Object {
    /// Returns the small number, if it is one.
    pub(super) fn number(self) -> Option<u64> {
        (self.0 & 1 == 1).then_some(self.0 >> 1)
    }
}

/// A file with the address that it was made for.
struct Part {
    bytes: Vec<u8>,
    base: u64,
    root: Object,
}

/// The parts of one module: the first is read, and the others are what it points into.
pub(super) struct Objects {
    parts: Vec<Part>,
    /// Size of an address in bytes: 4 or 8.
    width: usize,
    names: HashMap<Object, Rc<str>>,
}

impl Objects {
    /// Checks the headers of the parts, and takes their bytes.
    pub(super) fn new(parts: Vec<Vec<u8>>) -> Result<Self, Damage> {
        let width = width_of(parts.first().map_or(&[][..], Vec::as_slice))?;
        let mut objects = Objects { parts: Vec::new(), width, names: HashMap::new() };
        for bytes in parts {
            check_header(&bytes)?;
            let word = |at: usize| word(&bytes, at, width).ok_or("expected a base address, found the end");
            let base = word(HEADER)?;
            // The root comes first; older versions of Lean write it last.
            let (first, last) = (word(HEADER + width)?, word(bytes.len().saturating_sub(width))?);
            let is_inside = |address: &u64| {
                *address > base
                    && *address - base < bytes.len() as u64
                    && (*address - base).is_multiple_of(width as u64)
            };
            let root =
                [first, last].into_iter().find(is_inside).ok_or("expected a root object, found none")?;
            objects.parts.push(Part { bytes, base, root: Object(root) });
        }
        Ok(objects)
    }

    /// Returns the root object of the first part.
    pub(super) fn root(&self) -> Object {
        self.parts[0].root
    }

    /// Returns the bytes from an object on.
    fn at(&self, object: Object) -> Result<&[u8], Damage> {
        let Object(address) = object;
        for Part { bytes, base, .. } in &self.parts {
            let place = address.wrapping_sub(*base);
            if address >= *base && place < bytes.len() as u64 && place.is_multiple_of(self.width as u64) {
                return Ok(&bytes[place as usize..]);
            }
        }
        Err(format!("expected an object, found the address {address:#x} that no part has"))
    }

    /// Returns the number of a constructor; a constructor without fields is its own number.
    pub(super) fn tag(&self, object: Object) -> Result<u8, Damage> {
        if let Some(number) = object.number() {
            return u8::try_from(number)
                .map_err(|_| format!("expected a constructor, found the number {number}"));
        }
        self.header(object).map(|(tag, _)| tag)
    }

    /// Returns the tag and the number of fields of an object.
    fn header(&self, object: Object) -> Result<(u8, usize), Damage> {
        match *self.at(object)? {
            [_, _, _, _, _, _, fields, tag, ..] => Ok((tag, usize::from(fields))),
            _ => Err("expected an object, found the end of the file".to_owned()),
        }
    }

    /// Returns a field of a constructor that is an object.
    pub(super) fn field(&self, object: Object, number: usize) -> Result<Object, Damage> {
        let (tag, fields) = self.header(object)?;
        if tag > LAST_CONSTRUCTOR || number >= fields {
            return Err(format!(
                "expected a constructor with more than {number} fields, found tag {tag} with {fields}"
            ));
        }
        let found = word(self.at(object)?, 8 + number * self.width, self.width);
        found.map(Object).ok_or_else(|| "expected a field, found the end of the file".to_owned())
    }

    /// Returns a byte after the fields of a constructor.
    pub(super) fn scalar(&self, object: Object, place: usize) -> Result<u8, Damage> {
        let (_, fields) = self.header(object)?;
        let found = self.at(object)?.get(8 + fields * self.width + place);
        found.copied().ok_or_else(|| "expected a number, found the end of the file".to_owned())
    }

    /// Returns the elements of an array.
    pub(super) fn array(&self, object: Object) -> Result<Vec<Object>, Damage> {
        let bytes = self.sized(object, ARRAY, "an array")?;
        let count = word(bytes, 8, self.width).unwrap_or(u64::MAX);
        let start = 8 + 2 * self.width;
        let end =
            usize::try_from(count).ok().and_then(|count| count.checked_mul(self.width)?.checked_add(start));
        let elements = end.and_then(|end| bytes.get(start..end));
        let elements =
            elements.ok_or_else(|| format!("expected {count} elements, found the end of the file"))?;
        Ok(elements
            .chunks_exact(self.width)
            .filter_map(|chunk| word(chunk, 0, self.width).map(Object))
            .collect())
    }

    /// Returns the text of a string.
    pub(super) fn string(&self, object: Object) -> Result<&str, Damage> {
        let bytes = self.sized(object, STRING, "a string")?;
        let size = word(bytes, 8, self.width).and_then(|size| usize::try_from(size).ok()?.checked_sub(1));
        let start = 8 + 3 * self.width;
        let text = size.and_then(|size| bytes.get(start..start.checked_add(size)?));
        let text = text.ok_or("expected a string, found the end of the file")?;
        std::str::from_utf8(text).map_err(|_| "expected UTF-8 text, found other bytes".to_owned())
    }

    fn sized(&self, object: Object, expected: u8, what: &str) -> Result<&[u8], Damage> {
        match self.header(object)?.0 {
            tag if tag == expected => self.at(object),
            tag => Err(format!("expected {what}, found tag {tag}")),
        }
    }

    /// Returns the components of a name, the last one first: texts, or numbers.
    fn components(&self, mut object: Object) -> Result<Vec<Component<'_>>, Damage> {
        let mut components = Vec::new();
        while object.number().is_none() {
            if components.len() >= LONGEST_NAME {
                return Err(format!("expected at most {LONGEST_NAME} components in a name, found more"));
            }
            let last = self.field(object, 1)?;
            components.push(match self.tag(object)? {
                1 => Component::Text(self.string(last)?),
                _ => Component::Number(last.number().unwrap_or_default()),
            });
            object = self.field(object, 0)?;
        }
        Ok(components)
    }

    /// Returns a name as Lean prints it, with components that are not identifiers in `«»`.
    pub(super) fn name(&mut self, object: Object) -> Result<Rc<str>, Damage> {
        if let Some(name) = self.names.get(&object) {
            return Ok(Rc::clone(name));
        }
        let mut text = String::new();
        for component in self.components(object)?.into_iter().rev() {
            if !text.is_empty() {
                text.push('.');
            }
            match component {
                Component::Number(number) => text += &number.to_string(),
                Component::Text(part) if is_identifier(part) => text += part,
                Component::Text(part) => text += &format!("«{}»", part.replace(['«', '»', '\n'], "_")),
            }
        }
        let name: Rc<str> = text.into();
        self.names.insert(object, Rc::clone(&name));
        Ok(name)
    }
}

enum Component<'a> {
    Text(&'a str),
    Number(u64),
}

/// Whether a component is printed without `«»`.
fn is_identifier(part: &str) -> bool {
    let mut characters = part.chars();
    let begins = |c: char| c == '_' || c.is_alphabetic() && !matches!(c, 'λ' | 'Π' | 'Σ');
    let goes_on =
        |c: char| c.is_alphanumeric() || matches!(c, '_' | '\'' | '!' | '?' | '\u{2080}'..='\u{209c}');
    characters.next().is_some_and(begins) && characters.all(goes_on)
}

/// Reads a number of the size of an address.
fn word(bytes: &[u8], at: usize, width: usize) -> Option<u64> {
    let bytes = bytes.get(at..at.checked_add(width)?)?;
    Some(bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)))
}

fn check_header(bytes: &[u8]) -> Result<(), Damage> {
    if bytes.len() < HEADER + 16 || !bytes.starts_with(b"olean") {
        return Err("expected a compiled Lean module, found another file".to_owned());
    }
    if bytes[5] != VERSION {
        let lean = String::from_utf8_lossy(&bytes[7..40]);
        let lean: String = lean.chars().take_while(|c| c.is_ascii_graphic()).collect();
        let found = bytes[5];
        return Err(format!(
            "expected a compiled module of format {VERSION}, found format {found}, of Lean {lean}"
        ));
    }
    Ok(())
}

/// Returns the size of an address in bytes: 64-bit Lean puts modules above 4 GiB or leaves the upper half
/// zero, and the root follows.
fn width_of(bytes: &[u8]) -> Result<usize, Damage> {
    check_header(bytes)?;
    let is_of = |width: usize| {
        let base = word(bytes, HEADER, width);
        let ends = [word(bytes, HEADER + width, width), word(bytes, bytes.len() - width, width)];
        ends.into_iter().any(|root| match (base, root) {
            (Some(base), Some(root)) => {
                let place = root.wrapping_sub(base);
                root > base
                    && place > (HEADER + width) as u64
                    && place < bytes.len() as u64
                    && place.is_multiple_of(4)
            }
            _ => false,
        })
    };
    [8, 4]
        .into_iter()
        .find(|width| is_of(*width))
        .ok_or_else(|| "expected a root object, found none".to_owned())
}
